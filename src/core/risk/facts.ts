/** What risk rules know of a payment, and the keyed digests under which its card, addresses and phone are counted. */
import { networkOf } from '../../lib/cards/networks.ts';
import { canonicalAddress } from '../../lib/http/address.ts';
import { type Facts, type RiskFieldName, riskField } from '../../rules/risk/fields.ts';
import { BIN_DIGITS, type LIST_KINDS, listKindOf } from '../../rules/risk/list-kinds.ts';
import type { RuleSet } from '../../rules/risk/rule-set.ts';
import { KEY_FIELDS } from '../../rules/risk/velocities.ts';
import type { Findings, ListLookup } from '../../store/risk/findings.ts';
import type { Keys } from '../../store/risk/velocities.ts';
import type { Gateway, PaymentWithDetails } from '../context.ts';

/** What a payment does not store: the number of its card while it is known, and the address of the payer's browser. */
export interface Seen {
  number?: string | undefined;
  ip?: string | undefined;
  /** The account has stored the card before. */
  isSaved?: boolean;
}

/** Identifies a card in all accounts, without revealing its number. */
export const cardFingerprint = ({ fingerprints }: Pick<Gateway, 'fingerprints'>, number: string): string =>
  fingerprints.mac(number, 'risk card').toString('hex');

/** Leaves out what is not known. */
export function defined<Value extends object>(value: Value): Value {
  const known = {} as Value;
  for (const name in value) if (value[name] !== undefined && value[name] !== '') known[name] = value[name];
  return known;
}

const read = (field: RiskFieldName, value: string | undefined): string | undefined =>
  value === undefined ? undefined : riskField(field).read?.(value);

const domainOf = (email: string | undefined): string | undefined => email?.split('@').at(-1);

/** The first digits that the masked number of a stored card shows. */
const shownDigits = (masked: string | undefined): string | undefined => /^\d+/.exec(masked ?? '')?.[0];

/** The facts that need no lookup. */
export function factsOfPayment(gateway: Gateway, payment: PaymentWithDetails, { number, ip }: Seen): Facts {
  const { details, amount, currency, brand, protocol } = payment;
  const { payer, card } = details;
  const email = read('email', payer.email);
  return defined({
    amount,
    currency,
    brand,
    protocol,
    network: card?.network ?? (number && networkOf(number)),
    bin: number?.slice(0, BIN_DIGITS.most) ?? shownDigits(card?.masked),
    card: number && cardFingerprint(gateway, number),
    payer_country: read('payer_country', payer.country),
    ip: canonicalAddress(ip || payer.ip || ''),
    email,
    email_domain: domainOf(email),
    phone: read('phone', payer.phone),
    is_recurring: details.recurringOf !== undefined,
    hour: new Date(gateway.clock.now(payment.mid)).getUTCHours(),
  }) as Facts;
}

/** The facts with what lookups have found. */
export function withFindings(facts: Facts, found: Findings, isSavedCard: boolean): Facts {
  return defined({
    network: found.bin?.network ?? undefined,
    bin_country: found.bin?.country ?? undefined,
    funding: found.bin?.funding ?? undefined,
    ip_country: found.ipCountry,
    is_new_card: isNewCard(facts, found, isSavedCard),
    ...facts,
  }) as Facts;
}

const isNewCard = ({ card }: Facts, { isKnownCard }: Findings, isSavedCard: boolean): boolean | undefined =>
  card === undefined || isKnownCard === undefined ? undefined : !isSavedCard && !isKnownCard;

/** The keys of velocities; a card is its fingerprint. */
export function keysOf({ fingerprints }: Pick<Gateway, 'fingerprints'>, facts: Facts): Keys {
  const keys: Keys = {};
  for (const field of KEY_FIELDS) {
    const value = facts[field];
    if (value === undefined) continue;
    keys[field] =
      field === 'card' ? String(value) : fingerprints.mac(`${field} ${value}`, 'risk key').toString('hex', 0, 16);
  }
  return keys;
}

/** Fields that identify a person or a card: the payment itself has them, and the record of a decision does not. */
const PERSONAL = new Set<string>(['card', 'email', 'ip', 'phone']);

/** The facts as they are recorded with a decision. */
export function inputOf(facts: Facts): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(facts))
    if (!PERSONAL.has(name)) input[name] = typeof value === 'bigint' ? value.toString() : value;
  return input;
}

/** The entries of lists that would match; none for a field that is not known. `others` are further texts of the card. */
export const lookupsOf = ({ lists }: RuleSet, facts: Facts, others: readonly string[]): ListLookup[] =>
  lists.map(({ listId, field }) => {
    const value = facts[field];
    if (typeof value !== 'string' || value === '') return { listId, values: [] };
    const kind = listKindOf(riskField(field).list as keyof typeof LIST_KINDS);
    return { listId, values: [...(kind.lookups?.(value) ?? [value]), ...(field === 'card' ? others : [])] };
  });
