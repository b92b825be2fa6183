/** What is personal in a payment: the values to erase, and what remains of its details afterwards. */
import { mapTexts } from '../../lib/text/json.ts';
import type { PaymentDetails, PaymentWithDetails } from '../../store/payments/payments.ts';
import { withoutPaymentMethod } from '../connections/provider-data.ts';
import type { Gateway } from '../context.ts';
import { secretsOf, secretsOfSession } from '../payments/secrets.ts';

/** Parts of an address that many payers share; they are erased, but not searched for in other texts. */
const SHARED = new Set(['country', 'state', 'city', 'zip']);

/** Shorter values occur in other words by chance. */
const SHORTEST = 3;

const ERASED = '[erased]';

function textsIn(value: unknown): string[] {
  const texts: string[] = [];
  mapTexts(value, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** As in the body of a form, and as in a path. */
const spellings = (text: string): string[] => [
  text,
  encodeURIComponent(text),
  encodeURIComponent(text).replaceAll('%20', '+'),
];

/** Replaces personal values in texts, also where an address contains them encoded. */
export function createScrub(values: readonly string[]): (text: string) => string {
  const searched = [...new Set(values.map((value) => value.trim()))]
    .filter((value) => value.length >= SHORTEST && value.isWellFormed())
    .sort((a, b) => b.length - a.length);
  if (searched.length === 0) return (text) => text;
  const alternatives = [...new Set(searched.flatMap(spellings))].map(escaped).join('|');
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${alternatives})(?![\\p{L}\\p{N}])`, 'giu');
  // An address has to remain one.
  return (text) => text.replace(pattern, /^https?:/i.test(text) ? 'erased' : ERASED);
}

const named = ({ first_name = '', last_name = '' }: Record<string, string>): string[] =>
  first_name !== '' && last_name !== '' ? [`${first_name} ${last_name}`] : [];

const identifying = (payer: Record<string, string>): string[] => [
  ...Object.entries(payer).flatMap(([name, value]) => (SHARED.has(name) ? [] : [value])),
  ...named(payer),
];

/** Replaces the personal values of a payment in other texts. */
export function scrubFor(gateway: Pick<Gateway, 'seal'>, payment: PaymentWithDetails): (text: string) => string {
  const { payer, session, identifier, receiptEmail, parameters, card } = payment.details;
  return createScrub([
    ...identifying(payer),
    ...(session ? identifying(session.payer) : []),
    ...textsIn([identifier ?? '', receiptEmail ?? '', parameters ?? {}, session?.parameters ?? {}]),
    ...textsIn([secretsOf(gateway, payment), secretsOfSession(gateway, session)]),
    ...textsIn([card?.token ?? '', payment.recurringToken ?? '', session?.cardTokens ?? []]),
  ]);
}

/** What remains: only listed members do, so that a new one is erased unless it is added here. */
export function remainingDetails(
  details: PaymentDetails,
  scrub: (text: string) => string,
  erasedAt: number,
  keepsCard: boolean,
): PaymentDetails {
  const { description, lines, returnUrl, termUrl3ds, callbackUrl, methods, wallet, recurringOf, consent } = details;
  const { retryOf, card, session } = details;
  const { token: _token, ...cardFacts } = card ?? {};
  const kept = {
    description,
    lines,
    returnUrl,
    termUrl3ds,
    callbackUrl,
    methods,
    wallet,
    recurringOf,
    consent,
    retryOf,
    session: session && remainingSession(session),
  };
  const remaining = mapTexts(kept, scrub);
  return {
    // The text of JSON has no undefined members.
    ...(JSON.parse(JSON.stringify(remaining)) as typeof remaining & Pick<PaymentDetails, 'description'>),
    payer: {},
    ...(card && { card: keepsCard ? card : { ...cardFacts, removed: true } }),
    erasedAt,
  } as PaymentDetails;
}

function remainingSession(session: NonNullable<PaymentDetails['session']>): PaymentDetails['session'] {
  const { sealed: _sealed, cardTokens: _cardTokens, ...terms } = session;
  return { ...terms, payer: {}, parameters: {} };
}

/** What remains of the data of the provider: what a refund needs, without the token of the payment method. */
export function remainingProviderData(
  gateway: Pick<Gateway, 'seal'>,
  payment: PaymentWithDetails,
  scrub: (text: string) => string,
) {
  const data = withoutPaymentMethod(gateway, payment);
  return data && { ...data, ...(data.state && { state: mapTexts(data.state, scrub) }) };
}
