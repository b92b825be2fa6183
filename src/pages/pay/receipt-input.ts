/** The field of a form for the payer's e-mail address, to which the receipt is sent. */
import { type Html, html } from '../../lib/text/html.ts';
import { renderInput } from './inputs.ts';
import type { PageView } from './view.ts';

export const RECEIPT_EMAIL = 'receipt_email';

/** The field for the payer's address, if the account wants to ask for it. */
export function receiptInput(
  { asksForReceipt, locale: { messages } }: PageView,
  answers: ReadonlyMap<string, string>,
  isWrong: boolean,
): Html | false {
  if (!asksForReceipt) return false;
  return renderInput({
    id: RECEIPT_EMAIL,
    name: RECEIPT_EMAIL,
    label: messages.receipt.email,
    value: answers.get(RECEIPT_EMAIL) ?? '',
    problem: isWrong ? messages.looksWrong : undefined,
    autocomplete: 'email',
    inputmode: 'email',
    isOptional: true,
    attributes: html` dir="ltr" maxlength="254" data-check="email" data-wrong="${messages.looksWrong}"`,
  });
}
