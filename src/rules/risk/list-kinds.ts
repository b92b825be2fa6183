/** The kinds of risk lists: how an entry is written, and under which texts a value of a payment is looked up in one. */
import { parseRange, rangesAround } from '../../lib/http/address.ts';
import { isMailAddress, isPhone } from '../contacts.ts';
import { COUNTRIES } from '../countries.ts';

/** Shorter prefixes of card numbers name a network; longer ones would be card numbers. */
export const BIN_DIGITS = { least: 4, most: 8 } as const;

/** The digits of the first and last number of a range of cards. */
export const RANGE_DIGITS = 12;

export interface ListKind {
  /** An entry in its stored form; undefined if it is not valid. */
  read(value: string): string | undefined;
  /** The entries that match a value in its stored form; only the value itself if omitted. */
  lookups?(value: string): string[];
  expects: string;
}

const CARD_FINGERPRINT = /^[0-9a-f]{64}$/;
const DOMAIN = /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+\p{L}[\p{L}\p{N}-]{0,62}$/u;

const DOMAIN_LENGTH = 253;

function readDomain(value: string): string | undefined {
  const domain = value.trim().toLowerCase();
  return domain.length <= DOMAIN_LENGTH && DOMAIN.test(domain) ? domain : undefined;
}

function readRange(value: string): string | undefined {
  const range = parseRange(value.trim());
  return range && rangesAround(range.address)[range.prefix];
}

export const readPhone = (value: string): string | undefined =>
  isPhone(value.trim()) ? value.replace(/[^\d+]/g, '') : undefined;

export const LIST_KINDS = {
  card: {
    read: (value) => (CARD_FINGERPRINT.test(value) ? value : undefined),
    expects: 'A card of a payment, given as payment_id, or the 64 hexadecimal digits of its fingerprint.',
  },
  bin: {
    read: (value) => (/^\d{4,8}$/.test(value) ? value : undefined),
    lookups: (bin) =>
      Array.from({ length: Math.max(0, bin.length - BIN_DIGITS.least + 1) }, (_, index) =>
        bin.slice(0, BIN_DIGITS.least + index),
      ),
    expects: 'The first 4 to 8 digits of card numbers, such as 411111.',
  },
  email: {
    read: (value) => (isMailAddress(value.trim()) ? value.trim().toLowerCase() : undefined),
    expects: 'An e-mail address, such as jo@example.com.',
  },
  email_domain: {
    read: readDomain,
    expects: 'The domain of e-mail addresses, such as example.com.',
  },
  ip: {
    read: readRange,
    lookups: (address) => rangesAround(address),
    expects: 'An IP address or a CIDR range, such as 203.0.113.7 or 203.0.113.0/24.',
  },
  phone: { read: readPhone, expects: 'A phone number, such as +49 30 1234567.' },
  country: {
    read: (value) => (COUNTRIES.has(value.trim().toUpperCase()) ? value.trim().toUpperCase() : undefined),
    expects: 'A country code of two letters, such as DE.',
  },
} as const satisfies Record<string, ListKind>;

export type ListKindName = keyof typeof LIST_KINDS;
export const LIST_KIND_NAMES = Object.keys(LIST_KINDS) as ListKindName[];

export const listKindOf = (name: ListKindName): ListKind => LIST_KINDS[name];
