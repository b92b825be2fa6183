/** The fields of a payment that conditions of risk rules compare, and how their values are written. */
import { NETWORK_NAMES } from '../../lib/cards/networks.ts';
import { BRAND_LABELS } from '../brands.ts';
import { CURRENCIES } from '../currencies.ts';
import { type ListKindName, listKindOf } from './list-kinds.ts';

/** An amount is compared within its currency; a flag is true or false. */
type FieldType = 'text' | 'amount' | 'number' | 'flag';

export interface RiskField {
  type: FieldType;
  about: string;
  /** What a value should be. */
  expects: string;
  /** A text in the form in which it is compared; undefined if it is not valid. */
  read?: (value: string) => string | undefined;
  /** The kind of lists that can contain it. */
  list?: ListKindName;
}

const inForm = (list: ListKindName, about: string): RiskField => {
  const { read, expects } = listKindOf(list);
  return { type: 'text', about, expects, read, list };
};

const oneOf = (choices: readonly string[], about: string, expects = `One of ${choices.join(', ')}.`): RiskField => ({
  type: 'text',
  about,
  expects,
  read: (value) => (choices.includes(value) ? value : undefined),
});

const flag = (about: string): RiskField => ({ type: 'flag', about, expects: 'true or false.' });

export const FUNDINGS = ['credit', 'debit', 'prepaid'] as const;

export const RISK_FIELDS = {
  amount: {
    type: 'amount',
    about: 'The amount of the payment.',
    expects: 'A decimal number as a text, such as "100.00".',
  },
  currency: {
    type: 'text',
    about: 'Its currency.',
    expects: 'A currency code of three capital letters, such as EUR.',
    read: (value) => (CURRENCIES[value] ? value : undefined),
  },
  brand: oneOf(BRAND_LABELS, 'Its brand.', 'The label of a brand, such as card.'),
  network: oneOf(NETWORK_NAMES, 'The network of the card.', 'A card network, such as visa.'),
  bin: inForm('bin', 'The first digits of the card number; a shorter value matches as a prefix.'),
  bin_country: inForm('country', 'The country of the card’s bank, from the imported card ranges.'),
  funding: oneOf(FUNDINGS, 'How the card is funded, from the imported card ranges.'),
  payer_country: inForm('country', 'The country of the payer’s address.'),
  ip_country: inForm('country', 'The country of the payer’s IP address, from the imported networks.'),
  ip: inForm('ip', 'The payer’s IP address; a value may be a range.'),
  email: inForm('email', 'The payer’s e-mail address.'),
  email_domain: inForm('email_domain', 'What follows the @ in it.'),
  phone: inForm('phone', 'The payer’s phone number.'),
  card: inForm('card', 'The card, by its fingerprint.'),
  protocol: oneOf(['checkout', 's2s'], 'How the merchant sent the order.'),
  is_recurring: flag('Whether the payment repeats an earlier one.'),
  is_new_card: flag('Whether the account has not seen the card before.'),
  hour: { type: 'number', about: 'The hour of the day, UTC.', expects: 'A whole number from 0 to 23.' },
} as const satisfies Record<string, RiskField>;

export type RiskFieldName = keyof typeof RISK_FIELDS;
export const RISK_FIELD_NAMES = Object.keys(RISK_FIELDS) as RiskFieldName[];

export const riskField = (name: RiskFieldName): RiskField => RISK_FIELDS[name];

export const isRiskField = (name: unknown): name is RiskFieldName =>
  typeof name === 'string' && Object.hasOwn(RISK_FIELDS, name);

/** What is known of a payment; texts are in the form in which they are compared, amounts in minor units. */
export type Facts = Partial<Record<RiskFieldName, string | number | bigint | boolean>> & { currency?: string };
