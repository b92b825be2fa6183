/** Writes form bodies with the same bytes as `URLSearchParams`, at a fraction of its cost. */

/** Texts of these characters are written as they are. */
const UNCHANGED = /^[\w*.-]*$/;
/** What `encodeURIComponent` writes differently. */
const DIFFERENT = /%20|[!'()~]/g;
const REPLACED: Readonly<Record<string, string>> = {
  '%20': '+',
  '!': '%21',
  "'": '%27',
  '(': '%28',
  ')': '%29',
  '~': '%7E',
};

const encoded = (text: string): string =>
  UNCHANGED.test(text)
    ? text
    : encodeURIComponent(text.toWellFormed()).replace(DIFFERENT, (found) => REPLACED[found] as string);

/** The body with one more pair. */
export const withPair = (body: string, name: string, value: string): string =>
  withPlainName(body, encoded(name), value);

/** The body with one more pair, whose name consists of letters, digits and underscores. */
export const withPlainName = (body: string, name: string, value: string): string =>
  `${body === '' ? '' : `${body}&`}${name}=${encoded(value)}`;
