/** What the payer does next, by Stripe's `next_action`: visits a page, scans a code, or pays by a voucher or transfer. */
import type Stripe from 'stripe';
import { utcDay } from '../../lib/time/day.ts';
import type { PayerStep } from '../connector.ts';
import { codeStep, instructionsStep, redirectStep } from '../payer-steps.ts';

type Action = Stripe.PaymentIntent.NextAction;

/** The payer confirms in an app, without anything to see here. */
const CONFIRMED_ELSEWHERE: PayerStep = { kind: 'accepted' };

const dayOf = (seconds: number | null | undefined): string | undefined =>
  typeof seconds === 'number' ? utcDay(seconds * 1000) : undefined;

/** A convenience store has a payment code and perhaps a confirmation number. */
function storesOf({ stores }: NonNullable<Action['konbini_display_details']>): Record<string, string | undefined> {
  const named = Object.entries(stores).map(([name, store]) => [
    name,
    store ? [store.payment_code, store.confirmation_number].filter(Boolean).join(' / ') : undefined,
  ]);
  return Object.fromEntries(named);
}

/** The first account of a bank transfer. */
function accountOf({ financial_addresses: [address] = [] }: NonNullable<Action['display_bank_transfer_instructions']>) {
  const { iban, sort_code: sortCode, spei, swift, aba, zengin } = address ?? {};
  const account = iban ?? sortCode ?? spei ?? swift ?? aba ?? zengin;
  const bank = spei ?? swift ?? aba ?? zengin;
  return {
    account_holder: account?.account_holder_name,
    iban: iban?.iban,
    bic: iban?.bic ?? swift?.swift_code,
    account_number: spei?.clabe ?? (sortCode ?? swift ?? aba ?? zengin)?.account_number,
    bank_code: sortCode?.sort_code ?? aba?.routing_number ?? (spei ?? zengin)?.bank_code,
    bank_name: bank?.bank_name,
  };
}

const STEPS: { readonly [Type in keyof Action]?: (action: NonNullable<Action[Type]>) => PayerStep | undefined } = {
  redirect_to_url: ({ url }) => redirectStep(url),
  alipay_handle_redirect: ({ url }) => redirectStep(url),
  // On a phone its page opens the app, which a code to scan does not.
  swish_handle_redirect_or_display_qr_code: (action) => redirectStep(action.hosted_instructions_url),
  // Their codes come as pictures only, so that the payer scans them on the page of Stripe.
  cashapp_handle_redirect_or_display_qr_code: (action) => redirectStep(action.hosted_instructions_url),
  upi_handle_redirect_or_display_qr_code: (action) => redirectStep(action.hosted_instructions_url),
  verify_with_microdeposits: (action) => redirectStep(action.hosted_verification_url),
  pix_display_qr_code: ({ data }) => codeStep(data),
  paynow_display_qr_code: ({ data }) => codeStep(data),
  promptpay_display_qr_code: ({ data }) => codeStep(data),
  klarna_display_qr_code: ({ data }) => codeStep(data),
  wechat_pay_display_qr_code: ({ data }) => codeStep(data),
  multibanco_display_details: ({ entity, reference, expires_at, hosted_voucher_url }) =>
    instructionsStep({ entity, reference, expires: dayOf(expires_at), voucher: hosted_voucher_url }),
  boleto_display_details: ({ number, expires_at, hosted_voucher_url }) =>
    instructionsStep({ reference: number, expires: dayOf(expires_at), voucher: hosted_voucher_url }),
  oxxo_display_details: ({ number, expires_after, hosted_voucher_url }) =>
    instructionsStep({ reference: number, expires: dayOf(expires_after), voucher: hosted_voucher_url }),
  konbini_display_details: (action) =>
    instructionsStep({
      ...storesOf(action),
      expires: dayOf(action.expires_at),
      voucher: action.hosted_voucher_url,
    }),
  display_bank_transfer_instructions: (action) =>
    instructionsStep({ ...accountOf(action), reference: action.reference, voucher: action.hosted_instructions_url }),
  blik_authorize: () => CONFIRMED_ELSEWHERE,
  card_await_notification: () => CONFIRMED_ELSEWHERE,
};

/** Undefined if the payer would need what the payment page does not have, such as scripts of Stripe. */
export function nextStepOf(action: Action | null): PayerStep | undefined {
  const type = action?.type as keyof typeof STEPS | undefined;
  const content = type && action?.[type];
  const step =
    type && Object.hasOwn(STEPS, type) ? (STEPS[type] as (content: unknown) => PayerStep | undefined) : undefined;
  return step && content ? step(content) : undefined;
}

/** Methods whose payer would need an app or a terminal of Stripe: they are not sent. */
export const UNSHOWN_METHODS: readonly string[] = ['wechat_pay', 'card_present', 'interac_present'];
