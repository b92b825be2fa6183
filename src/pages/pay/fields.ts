/** The page that asks for what a brand still needs. */
import type { Method } from '../../core/payments/choose.ts';
import { html } from '../../lib/html.ts';
import { CARD } from '../../rules/brands.ts';
import type { Problem } from '../../rules/errors.ts';
import { cardNumberAt, type Field, SENTENCES } from '../../rules/fields.ts';
import type { Page } from '../layout.ts';
import type { Locale } from '../locale.ts';
import { inputOf } from './inputs.ts';
import { cancelLink, checkAgain, declinedBefore, following, type PageView, summary, titleOf } from './view.ts';

/** A way to pay that the payer has chosen, with what was filled in and what is wrong with it. */
export interface Form {
  method: Method;
  answers: ReadonlyMap<string, string>;
  problems: readonly Problem[];
}

/** What a way to pay is called; cards have a word in every language, the others the name that the account gave them. */
export const methodName = ({ label, title }: Method, { messages }: Locale): string =>
  label === CARD ? messages.card : title;

/** What the checks say to machines, said to people. */
export function explainedProblem(machine: string, { messages, translate }: Locale): string {
  const count = /\d+/.exec(machine)?.[0] ?? '';
  switch (machine) {
    case SENTENCES.blank:
      return messages.fillIn;
    case SENTENCES.notAChoice:
      return messages.notAChoice;
    case SENTENCES.notUrl:
      return messages.notUrl;
    case SENTENCES.spaces:
      return messages.spaces;
    case SENTENCES.tooLong(Number(count)):
      return translate(messages.tooLong, { count });
    case SENTENCES.tooShort(Number(count)):
      return translate(messages.tooShort, { count });
    default:
      return messages.looksWrong;
  }
}

/** A text of a row, which stands there in English. */
const translated = (text: string, { messages }: Locale): string => messages.fieldLabels[text] ?? text;

/** Browsers know these of their owner. */
const AUTOCOMPLETE: Readonly<Record<string, string>> = {
  payer_first_name: 'given-name',
  payer_last_name: 'family-name',
  payer_email: 'email',
  payer_phone: 'tel',
};

const isNumeric = ({ schema, hint }: Field): boolean =>
  String(schema.pattern ?? '').startsWith('^\\d') || /^\d+ digits$/.test(hint ?? '');

export function fieldsPage(view: PageView, { method, answers, problems }: Form): Page {
  const { payment, locale, methods } = view;
  const { messages, translate } = locale;
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
      label: translated(field.label ?? '', locale),
      // What nobody may read is not written back into a page.
      value: field.isSecret || cardNumberAt(field.name, typed) ? '' : typed,
      hint: field.hint && translated(field.hint, locale),
      problem: problem && explainedProblem(problem.sentence, locale),
      choices: choices && { prompt: messages.choose, list: choices },
      autocomplete: AUTOCOMPLETE[field.name] ?? 'off',
      inputmode: isNumeric(field) ? 'numeric' : 'text',
      isFocused: field === focused,
    });
  });
  return {
    title: titleOf(view, messages.complete, problems.length),
    ...following(view),
    body: html`${summary(view)}
<section class="card">
<h1>${fields.length > 0 ? messages.details : translate(messages.payWith, { method: methodName(method, locale) })}</h1>
${declinedBefore(view)}
${checkAgain(problems.length, locale)}
<form method="post" action="${view.path}" novalidate data-busy="${messages.oneMoment}" data-blank="${messages.fillIn}">
${payment.details.session && html`<input type="hidden" name="method" value="${method.label}">`}
${inputs}
<button>${messages.next}</button>
</form>
${methods.length > 1 && html`<a class="quiet" href="?">${messages.otherWays}</a>`}
${cancelLink(view)}
</section>`,
  };
}
