/** The form in which the payer enters the missing fields of a brand. */
import { displayName } from '../../core/accounts/accounts.ts';
import type { Method } from '../../core/payments/choose.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { type Brand, brandOf } from '../../rules/brands.ts';
import { cardNumbersAt, type Field } from '../../rules/fields.ts';
import type { MethodKind } from '../../rules/method-kinds.ts';
import type { Locale } from '../locale.ts';
import { attemptInput, sendAttributes } from './attempt.ts';
import { isShownAtOnce } from './code-methods.ts';
import { type Input, renderInput } from './inputs.ts';
import { noticeBox } from './notices.ts';
import { inputIdOf, type MethodForm, problemTexts } from './problems.ts';
import { RECEIPT_EMAIL, receiptInput } from './receipt-input.ts';
import { AUTO_SUBMIT } from './redirect-pages.ts';
import { CONSENT, seriesTerms } from './series.ts';
import type { PageView } from './view.ts';

/** The field with which the payer lets the merchant debit an account. */
const DEBITED_ACCOUNT = 'parameters[iban]';

/** The translation of a label or hint, which the field tables have in English. */
const translateLabel = (text: string, { messages }: Locale): string => messages.fieldLabels[text] ?? text;

/** The autocomplete tokens of fields that browsers can fill in. */
const AUTOCOMPLETE: Readonly<Record<string, string>> = {
  payer_first_name: 'given-name',
  payer_last_name: 'family-name',
  payer_email: 'email',
  payer_phone: 'tel',
  payer_address: 'street-address',
  payer_zip: 'postal-code',
  payer_city: 'address-level2',
  payer_country: 'country',
};

const isNumeric = ({ schema, hint }: Field): boolean =>
  String(schema.pattern ?? '').startsWith('^\\d') || /^\d+ digits$/.test(hint ?? '');

/** The options of a field: those of its format, or the countries of the method under their names. */
function choicesOf(
  { name, schema }: Field,
  { label }: Method,
  { tag, messages, formatCountry }: Locale,
): Input['choices'] {
  const list = schema.enum as readonly string[] | undefined;
  if (name !== 'payer_country') return list && { prompt: messages.choose, list };
  const { compare } = new Intl.Collator(tag);
  const countries = (brandOf(label) as Brand).countries ?? [];
  return {
    prompt: messages.choose,
    list: countries.toSorted((one, other) => compare(formatCountry(one), formatCountry(other))),
    nameOf: formatCountry,
  };
}

/** The form of a method: its fields, or the way to the page of its provider. */
export function fieldsForm(view: PageView, form: MethodForm): Html {
  const { payment, locale } = view;
  const { messages } = locale;
  const { method, answers } = form;
  const { fields } = method;
  const problems = problemTexts(view, form);
  const focused = fields.find(({ name }) => problems.has(inputIdOf(name)));
  const inputs = fields.map((field) => {
    const id = inputIdOf(field.name);
    const submitted = answers.get(field.name) ?? '';
    return renderInput({
      id,
      name: field.name,
      label: translateLabel(field.label ?? '', locale),
      // Secrets and card numbers are not repeated in the page.
      value: field.isSecret || cardNumbersAt(field.name, submitted).length > 0 ? '' : submitted,
      hint: field.hint && translateLabel(field.hint, locale),
      problem: problems.get(id),
      choices: choicesOf(field, method, locale),
      autocomplete: AUTOCOMPLETE[field.name] ?? 'off',
      inputmode: isNumeric(field) ? 'numeric' : 'text',
      isFocused: field === focused,
    });
  });
  return html`<form method="post" action="${view.path}" novalidate${sendAttributes(view, messages.oneMoment)} data-blank="${messages.fillIn}"${
    isShownAtOnce(view, method) && AUTO_SUBMIT
  }>
${noticeBox(view, problems.size)}
${payment.details.session && html`<input type="hidden" name="method" value="${method.label}">`}
${attemptInput(view)}
${inputs}
${!fields.some(({ name }) => name === 'payer_email') && receiptInput(view, answers, problems.has(RECEIPT_EMAIL))}
${seriesTerms(view, problems.has(CONSENT))}
${
  fields.some(({ name }) => name === DEBITED_ACCOUNT) &&
  html`<p class="field soft small">${locale.formatMessage(messages.debitMandate, { merchant: displayName(view.account) })}</p>`
}
<button>${messages.next}</button>
</form>`;
}

/** Kinds of methods that are paid on the page of a provider. */
const AT_PROVIDER: readonly MethodKind[] = [
  'card',
  'onlineBanking',
  'payAccount',
  'payApp',
  'payLater',
  'providerPage',
];

/** What stands above the fields of a method. */
export function fieldsIntroduction({ label, fields }: Method, { messages }: Locale): string {
  if (fields.length > 0) return messages.details;
  return AT_PROVIDER.includes((brandOf(label) as Brand).kind) ? messages.payAtProvider : messages.complete;
}
