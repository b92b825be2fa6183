/** Composes the requests to Checkout.com's Payments API. */

import { cut } from '../../lib/text/cut.ts';
import type { CardData, Submission } from '../connector.ts';
import { cleanPayer, statementText } from '../payer.ts';
import { toCheckout } from './amounts.ts';
import type { PaymentRequest, Source } from './types.ts';

const DESCRIPTION_LENGTH = 100;
const STATEMENT_LENGTH = 25;
const CITY_LENGTH = 13;
const ADDRESS_LENGTH = 200;
const CITY_NAME_LENGTH = 50;

/** The names of the wallets in `settings.methods`, which are Checkout.com's types of tokens. */
const WALLETS: readonly string[] = ['applepay', 'googlepay'];

const fullYear = (year: string): number => Number(year.length === 2 ? `20${year}` : year);

/** Country first: without one, Checkout.com takes no address. */
function billingAddress(submission: Submission): Pick<Extract<Source, { type: 'card' }>, 'billing_address'> {
  const { address, city, state, zip, country } = cleanPayer(submission);
  if (!country) return {};
  return {
    billing_address: {
      country,
      ...(address && { address_line1: cut(address, ADDRESS_LENGTH) }),
      ...(city && { city: cut(city, CITY_NAME_LENGTH) }),
      ...(state && { state: cut(state, CITY_NAME_LENGTH) }),
      ...(zip && { zip: cut(zip, CITY_NAME_LENGTH) }),
    },
  };
}

const cardSource = ({ number, month, year, holder, cvv }: CardData, flags: object): Source => ({
  type: 'card',
  number: number.reveal(),
  expiry_month: Number(month),
  expiry_year: fullYear(year),
  ...(holder !== '' && { name: holder }),
  ...(cvv && { cvv: cvv.reveal() }),
  ...flags,
});

/** The card of the payer, or the number of a device with its proof; undefined if the payer has none of both. */
function payerSource(submission: Submission): Source | undefined {
  const { card, wallet, method = '', isFirstOfSeries } = submission;
  if (!card) return undefined;
  const flags = { ...(isFirstOfSeries && { store_for_future_use: true }), ...billingAddress(submission) };
  if (wallet?.type !== 'CRYPTOGRAM_3DS') return cardSource(card, flags);
  if (!wallet.cryptogram || !WALLETS.includes(method)) return undefined;
  return {
    type: 'network_token',
    token: card.number.reveal(),
    expiry_month: Number(card.month),
    expiry_year: fullYear(card.year),
    token_type: method,
    cryptogram: wallet.cryptogram.reveal(),
    ...(wallet.eci !== undefined && { eci: wallet.eci }),
    ...flags,
  };
}

/** Checkout.com takes a statement text only with a city. */
function descriptorOf(submission: Submission, city: unknown): Pick<PaymentRequest, 'billing_descriptor'> {
  const name = statementText(submission, /[^\w .,'*&-]|_/g, STATEMENT_LENGTH);
  return name && typeof city === 'string' && city !== ''
    ? { billing_descriptor: { name, city: cut(city, CITY_LENGTH) } }
    : {};
}

const EXEMPTIONS: Readonly<Record<string, string>> = {
  low_value: 'low_value',
  transaction_risk: 'transaction_risk_assessment',
};

/** What a risk rule asks the issuer for. A card that cannot be authenticated is charged without it. */
function threeDsOf({ threeDs }: Submission): NonNullable<PaymentRequest['3ds']> {
  const { requested, reason } = threeDs ?? {};
  if (reason === 'skip_3ds') return { enabled: false };
  const exemption = EXEMPTIONS[reason ?? ''];
  return {
    enabled: true,
    attempt_n3d: true,
    ...(requested === 'challenge' && { challenge_indicator: 'challenge_requested_mandate' }),
    ...(exemption !== undefined && { exemption }),
  };
}

/** What a payer needs who is here; a device has proved its owner already. */
function payerFields(submission: Submission, source: Source): Partial<PaymentRequest> {
  const { isTelephoneOrder, isFirstOfSeries } = submission;
  if (isTelephoneOrder) return { payment_type: 'MOTO' };
  const returnUrl = submission.returnUrl();
  return {
    payment_type: isFirstOfSeries ? 'Unscheduled' : 'Regular',
    ...(isFirstOfSeries && { merchant_initiated: false }),
    ...(source.type === 'card' && { '3ds': threeDsOf(submission) }),
    success_url: returnUrl,
    failure_url: returnUrl,
  };
}

/** A repetition by the merchant: with the token of the first payment, or else with the card. */
function repetitionSource({ card, first }: Submission): Source | undefined {
  const token = first?.paymentMethod?.reveal();
  if (token !== undefined) return { type: 'id', id: token };
  return card && cardSource(card, { stored: true });
}

/** The request of a payment; undefined if Checkout.com cannot take it. */
export function paymentRequest(submission: Submission, channel: string, city: unknown): PaymentRequest | undefined {
  const { reference, currency, authoriseOnly, description, recurringOf, first } = submission;
  const amount = toCheckout(submission.amount, currency);
  const isRepetition = recurringOf !== undefined;
  const source = isRepetition ? repetitionSource(submission) : payerSource(submission);
  if (amount === undefined || !source) return undefined;
  const { email, firstName, lastName } = cleanPayer(submission);
  const name = [firstName, lastName].filter(Boolean).join(' ');
  return {
    source,
    amount,
    currency,
    payment_type: 'Unscheduled',
    ...(isRepetition
      ? {
          merchant_initiated: true,
          ...(first?.providerReference !== undefined && { previous_payment_id: first.providerReference }),
        }
      : payerFields(submission, source)),
    reference,
    ...(description && { description: cut(description, DESCRIPTION_LENGTH) }),
    capture: !authoriseOnly,
    ...(email && !isRepetition && { customer: { email, ...(name !== '' && { name }) } }),
    ...descriptorOf(submission, city),
    processing_channel_id: channel,
  };
}

/** Names an operation at Checkout.com, which takes 80 characters; `parseReference` reads it. */
export const operationReference = (reference: string, operation: string): string => `${reference}/${operation}`;

const REFERENCE = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:-\d{1,3})?)(?:\/([\da-f-]{36}))?$/i;

/** The reference of the payment, and of the operation if it names one; undefined if it is not ours. */
export function parseReference(value: unknown): { reference: string; operation?: string | undefined } | undefined {
  const [, reference, operation] = REFERENCE.exec(typeof value === 'string' ? value : '') ?? [];
  return reference === undefined ? undefined : { reference, operation };
}
