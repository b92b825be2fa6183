/** Writes what a field accepts as a sentence, from the phrase of a table. */

/** `a` or `an`, unless the phrase begins with a number, a choice or a word that has its own. */
const withArticle = (phrase: string): string => {
  if (/^(?:[\d`]|one of |an? |the |base64|true or false|[YN]\b)/.test(phrase)) return phrase;
  return `${/^(?:[aeio]|I[PS])/.test(phrase) ? 'an' : 'a'} ${phrase}`;
};

/** `whole number from 1 to 12`, with the example 6: `A whole number from 1 to 12, such as 6.` */
export function expectation(phrase: string, example = ''): string {
  const shown = example === '' || /such as|^one of/.test(phrase) ? '' : `, such as ${example}`;
  const text = withArticle(phrase).replaceAll('`', '');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${shown}.`.replace(/\?\.$/, '?');
}
