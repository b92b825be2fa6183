/** The page that asks for what a brand still needs. */
import type { Method } from '../../core/payments/choose.ts';
import { html } from '../../lib/html.ts';
import { CARD } from '../../rules/brands.ts';
import type { Problem } from '../../rules/errors.ts';
import { cardNumberAt, type Field, SENTENCES } from '../../rules/fields.ts';
import type { Page } from '../layout.ts';
import type { Speech } from '../speech.ts';
import { inputOf } from './inputs.ts';
import { cancelLink, checkAgain, declinedBefore, following, type Shown, summary, titleOf } from './shown.ts';

/** A way to pay that the payer has chosen, with what was filled in and what is wrong with it. */
export interface Form {
  method: Method;
  answers: ReadonlyMap<string, string>;
  problems: readonly Problem[];
}

/** What a way to pay is called; cards have a word in every language, the others the name that the account gave them. */
export const methodName = ({ label, title }: Method, { words }: Speech): string =>
  label === CARD ? words.card : title;

/** What the checks say to machines, said to people. */
export function inWords(machine: string, { words, say }: Speech): string {
  const count = /\d+/.exec(machine)?.[0] ?? '';
  switch (machine) {
    case SENTENCES.blank:
      return words.fillIn;
    case SENTENCES.notAChoice:
      return words.notAChoice;
    case SENTENCES.notUrl:
      return words.notUrl;
    case SENTENCES.spaces:
      return words.spaces;
    case SENTENCES.tooLong(Number(count)):
      return say(words.tooLong, { count });
    case SENTENCES.tooShort(Number(count)):
      return say(words.tooShort, { count });
    default:
      return words.looksWrong;
  }
}

/** A text of a row, which stands there in English. */
const translated = (text: string, { words }: Speech): string => words.asked[text] ?? text;

/** Browsers know these of their owner. */
const AUTOCOMPLETE: Readonly<Record<string, string>> = {
  payer_first_name: 'given-name',
  payer_last_name: 'family-name',
  payer_email: 'email',
  payer_phone: 'tel',
};

const isNumeric = ({ schema, hint }: Field): boolean =>
  String(schema.pattern ?? '').startsWith('^\\d') || /^\d+ digits$/.test(hint ?? '');

export function fieldsPage(shown: Shown, { method, answers, problems }: Form): Page {
  const { payment, speech, methods } = shown;
  const { words, say } = speech;
  const { fields } = method;
  const problemOf = ({ name }: Field): Problem | undefined => problems.find(({ field }) => field === name);
  const focused = problems.length > 0 ? fields.find(problemOf) : undefined;
  const inputs = fields.map((field) => {
    const problem = problemOf(field);
    const typed = answers.get(field.name) ?? '';
    const choices = field.schema.enum as readonly string[] | undefined;
    return inputOf({
      id: field.name.replace(/\W+/g, '-'),
      name: field.name,
      label: translated(field.label ?? '', speech),
      // What nobody may read is not written back into a page.
      value: field.isSecret || cardNumberAt(field.name, typed) ? '' : typed,
      hint: field.hint && translated(field.hint, speech),
      problem: problem && inWords(problem.sentence, speech),
      choices: choices && { prompt: words.choose, list: choices },
      autocomplete: AUTOCOMPLETE[field.name] ?? 'off',
      inputmode: isNumeric(field) ? 'numeric' : 'text',
      isFocused: field === focused,
    });
  });
  return {
    title: titleOf(shown, words.complete, problems.length),
    ...following(shown),
    body: html`${summary(shown)}
<section class="card">
<h1>${fields.length > 0 ? words.details : say(words.payWith, { method: methodName(method, speech) })}</h1>
${declinedBefore(shown)}
${checkAgain(problems.length, speech)}
<form method="post" action="${shown.path}" novalidate data-busy="${words.oneMoment}" data-blank="${words.fillIn}">
${payment.details.session && html`<input type="hidden" name="method" value="${method.label}">`}
${inputs}
<button>${words.next}</button>
</form>
${methods.length > 1 && html`<a class="quiet" href="?">${words.otherWays}</a>`}
${cancelLink(shown)}
</section>`,
  };
}
