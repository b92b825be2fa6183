/** The page on which the payer enters the missing fields of a brand. */
import type { Method } from '../../core/payments/choose.ts';
import { html } from '../../lib/html.ts';
import type { Problem } from '../../rules/errors.ts';
import { cardNumberAt, type Field, SENTENCES } from '../../rules/fields.ts';
import type { Page } from '../layout.ts';
import type { Locale } from '../locale.ts';
import { renderInput } from './inputs.ts';
import { methodTile } from './method-icons.ts';
import { namesOn } from './method-names.ts';
import { RECEIPT_EMAIL, receiptInput } from './receipt-input.ts';
import { CONSENT, seriesTerms } from './series.ts';
import {
  cancelLink,
  declineNotice,
  orderSummary,
  type PageView,
  pageTitle,
  statusPolling,
  validationNotice,
} from './view.ts';
import { walletAdditions, walletButtons } from './wallets.ts';

/** The chosen payment method, with the submitted values and their problems. */
export interface MethodForm {
  method: Method;
  answers: ReadonlyMap<string, string>;
  problems: readonly Problem[];
}

/** Translates the message of a field check for the payer. */
export function explainProblem(message: string, { messages, formatMessage }: Locale): string {
  const count = /\d+/.exec(message)?.[0] ?? '';
  switch (message) {
    case SENTENCES.blank:
      return messages.fillIn;
    case SENTENCES.notAChoice:
      return messages.notAChoice;
    case SENTENCES.notUrl:
      return messages.notUrl;
    case SENTENCES.spaces:
      return messages.spaces;
    case SENTENCES.tooLong(Number(count)):
      return formatMessage(messages.tooLong, { count });
    case SENTENCES.tooShort(Number(count)):
      return formatMessage(messages.tooShort, { count });
    default:
      return messages.looksWrong;
  }
}

/** The translation of a label or hint, which the field tables have in English. */
const translateLabel = (text: string, { messages }: Locale): string => messages.fieldLabels[text] ?? text;

/** The autocomplete tokens of fields that browsers can fill in. */
const AUTOCOMPLETE: Readonly<Record<string, string>> = {
  payer_first_name: 'given-name',
  payer_last_name: 'family-name',
  payer_email: 'email',
  payer_phone: 'tel',
};

const isNumeric = ({ schema, hint }: Field): boolean =>
  String(schema.pattern ?? '').startsWith('^\\d') || /^\d+ digits$/.test(hint ?? '');

export function fieldsPage(view: PageView, { method, answers, problems }: MethodForm): Page {
  const { payment, locale, methods } = view;
  const { messages } = locale;
  const { fields } = method;
  // A payer who chose this method has seen the wallets before.
  const hasWallets = methods.length === 1;
  const problemOf = ({ name }: Field): Problem | undefined => problems.find(({ field }) => field === name);
  const focused = problems.length > 0 ? fields.find(problemOf) : undefined;
  const inputs = fields.map((field) => {
    const problem = problemOf(field);
    const submitted = answers.get(field.name) ?? '';
    const choices = field.schema.enum as readonly string[] | undefined;
    return renderInput({
      id: field.name.replace(/\W+/g, '-'),
      name: field.name,
      label: translateLabel(field.label ?? '', locale),
      // Secrets and card numbers are not repeated in the page.
      value: field.isSecret || cardNumberAt(field.name, submitted) ? '' : submitted,
      hint: field.hint && translateLabel(field.hint, locale),
      problem: problem && explainProblem(problem.sentence, locale),
      choices: choices && { prompt: messages.choose, list: choices },
      autocomplete: AUTOCOMPLETE[field.name] ?? 'off',
      inputmode: isNumeric(field) ? 'numeric' : 'text',
      isFocused: field === focused,
    });
  });
  return {
    title: pageTitle(view, messages.complete, problems.length),
    ...statusPolling(view),
    additions: hasWallets ? walletAdditions(view) : undefined,
    body: html`${orderSummary(view)}
<section class="card">
<div class="method">${methodTile(method.label)}<div><h1><bdi>${namesOn(view)(method.label)}</bdi></h1><p class="soft small">${fields.length > 0 ? messages.details : messages.complete}</p></div></div>
${declineNotice(view)}
${validationNotice(problems.length, locale)}
${hasWallets && walletButtons(view, 'or')}
<form method="post" action="${view.path}" novalidate data-busy="${messages.oneMoment}" data-blank="${messages.fillIn}">
${payment.details.session && html`<input type="hidden" name="method" value="${method.label}">`}
${inputs}
${
  !fields.some(({ name }) => name === 'payer_email') &&
  receiptInput(
    view,
    answers,
    problems.some(({ field }) => field === RECEIPT_EMAIL),
  )
}
${seriesTerms(
  view,
  problems.some(({ field }) => field === CONSENT),
)}
<button>${messages.next}</button>
</form>
${methods.length > 1 && html`<a class="quiet" href="?">${messages.otherWays}</a>`}
${cancelLink(view)}
</section>`,
  };
}
