/** Kinds of values for particular brands: bank and personal identifiers, blockchain addresses, wallet tokens. */
import { isCardNumber } from '../lib/cards/card.ts';
import { isCryptoAddress } from '../lib/text/crypto-address.ts';
import {
  isAbaRoutingNumber,
  isBase64,
  isBban,
  isBic,
  isBlz,
  isBsb,
  isClabe,
  isCpf,
  isCuil,
  isCurp,
  isEmail,
  isIban,
  isIfsc,
  isMaskedCardNumber,
  isPhoneNumber,
  isSortCode,
  isUpiAddress,
  isUtcMoment,
} from '../lib/text/identifiers.ts';
import { isSeen } from '../lib/text/plain-text.ts';
import { missingInWalletA, missingInWalletB } from '../lib/wallets/token.ts';
import { COUNTRIES } from './countries.ts';
import { type FieldContext, type Kind, lengthProblem, SENTENCES } from './fields.ts';

const kind = (expects: string, accepts: (value: string, context: FieldContext) => boolean, schema = {}): Kind => ({
  check: (value, context) => (accepts(value, context) ? undefined : SENTENCES.invalid),
  expects,
  schema: { type: 'string', ...schema },
});

export const bic = kind('SWIFT code (BIC) of 8 or 11 characters', isBic);
export const cuil = kind('CUIL or CUIT of 11 digits', isCuil);
export const curp = kind('CURP of 18 characters', isCurp);
export const upiAddress = kind('UPI address such as `name@bank`', isUpiAddress);
export const utcMoment = kind('ISO 8601 date and time in UTC, such as `2024-05-31T12:00:00Z`', isUtcMoment, {
  format: 'date-time',
});
export const base64 = kind('base64', isBase64, { contentEncoding: 'base64' });

export const number = kind('number', (value) => /^-?\d{1,15}(\.\d{1,10})?$/.test(value), {
  pattern: '^-?\\d+(\\.\\d+)?$',
});
export const count = kind('whole number, 0 or more', (value) => /^\d{1,9}$/.test(value), { pattern: '^\\d{1,9}$' });

export const digits = (most: number, least = 1): Kind => ({
  check: (value) => {
    const problem = lengthProblem(value, least, most);
    return problem ?? (/^\d+$/.test(value) ? undefined : SENTENCES.invalid);
  },
  expects: least === most ? `${most} digits` : `${least} to ${most} digits`,
  schema: { type: 'string', pattern: `^\\d{${least},${most}}$` },
});

export const withoutSpaces = (least: number, most: number): Kind => ({
  check: (value) => {
    if (/\s/.test(value)) return SENTENCES.spaces;
    return lengthProblem(value, least, most);
  },
  expects: `text of ${least} to ${most} characters without spaces`,
  schema: { type: 'string', minLength: least, maxLength: most, pattern: '^\\S*$' },
});

export const country: Kind = {
  check: (value) =>
    /^[a-z]{2}$/i.test(value) && COUNTRIES.has(value.toUpperCase()) ? undefined : SENTENCES.notAChoice,
  expects: 'ISO 3166 code of two letters',
  example: 'DE',
  schema: { type: 'string', pattern: '^[A-Za-z]{2}$' },
};

/** The country of a payer whose method works in these countries only. */
export const countryIn = (countries: readonly string[]): Kind => ({
  check: (value) => (countries.includes(value.toUpperCase()) ? undefined : SENTENCES.notAChoice),
  expects:
    countries.length === 1 ? `\`${countries[0]}\`` : `one of ${countries.map((code) => `\`${code}\``).join(', ')}`,
  example: countries[0] as string,
  schema: { type: 'string', pattern: '^[A-Za-z]{2}$' },
});

const compact = (value: string): string => value.replaceAll(/[\s().-]/g, '');

/** People write both with blanks; connectors remove them. */
export const iban: Kind = {
  ...kind('IBAN, with or without spaces', (value) => isIban(compact(value).toUpperCase())),
  example: 'DE89 3704 0044 0532 0130 00',
};
export const mobileNumber: Kind = {
  ...kind('phone number with country code', (value) => /^\+[1-9]\d{6,14}$/.test(compact(value))),
  example: '+351 912 345 678',
};
export const email: Kind = { ...kind('e-mail address', isEmail), example: 'ana@example.com' };

/** The e-mail address of a person. Its form is not checked, because some shops send another text if they have no address. */
export const mailText: Kind = {
  ...kind('e-mail address, without characters that are not shown', isSeen),
  example: 'ana@example.com',
};

/** A web address that is only stored and passed on, so plain http is accepted. */
export const link: Kind = {
  check: (value) => (/^https?:\/\/\P{Cc}+$/iu.test(value) && URL.canParse(value) ? undefined : SENTENCES.notUrl),
  expects: 'web address',
  example: 'https://shop.example/teapot',
  schema: { type: 'string', format: 'uri' },
};

/** Brazilian IDs have digits only, and those of eleven digits are a CPF with check digits; others may have letters. */
export const personalId = kind(
  'personal ID; digits only for payers from BR, where 11 digits are checked as a CPF',
  (value, context) =>
    context.value('payer_country').toUpperCase() !== 'BR' ||
    (/^\d+$/.test(value) && (value.length !== 11 || isCpf(value))),
);

/** The coins that each network carries; a payout with any other pair would be lost. */
const COINS_ON = {
  BTC: ['BTC'],
  ETH: ['ETH', 'USDC', 'USDT'],
  BSC: ['USDC', 'USDT'],
  TRX: ['USDT'],
} as const satisfies Record<string, readonly string[]>;

type Network = keyof typeof COINS_ON;

const isNetwork = (name: string): name is Network => Object.hasOwn(COINS_ON, name);

/** A network that carries the coin in another field. */
export const networkFor = (coinField: string, coins: readonly string[]): Kind => ({
  check: (value, context) => {
    const coin = context.value(coinField);
    const isCarried =
      isNetwork(value) && (!coins.includes(coin) || (COINS_ON[value] as readonly string[]).includes(coin));
    return isCarried ? undefined : SENTENCES.notAChoice;
  },
  expects: `one of ${Object.entries(COINS_ON)
    .map(([network, carried]) => `\`${network}\` (carries ${carried.join(', ')})`)
    .join(', ')}`,
  schema: { type: 'string', enum: Object.keys(COINS_ON) },
});

/** An address on the network in another field. */
export const addressOn = (networkField: string): Kind =>
  kind('address on the network, with its checksum', (value, context) => {
    const network = context.value(networkField);
    return !isNetwork(network) || isCryptoAddress(network, value);
  });

const tokenOf = (missing: (token: unknown) => string | undefined): Kind => ({
  check: (value) => {
    try {
      const path = missing(JSON.parse(value));
      return path === undefined ? undefined : SENTENCES.incomplete(path);
    } catch {
      return SENTENCES.notJson;
    }
  },
  expects: 'the payment token of the wallet as JSON',
  schema: { type: 'string', contentMediaType: 'application/json' },
});

export const walletAToken = tokenOf(missingInWalletA);
export const walletBToken = tokenOf(missingInWalletB);

/** The identification types of a payee and their formats; types without a fixed format accept any text. */
const IDENTIFICATIONS: Readonly<Record<string, (value: string, context: FieldContext) => boolean>> = {
  SORT_CODE: isSortCode,
  ACCOUNT_NUMBER: () => true,
  IBAN: isIban,
  BBAN: (value, context) => isBban(value, context.value('parameters[payee_country]').toUpperCase()),
  BIC: isBic,
  PAN: isCardNumber,
  MASKED_PAN: isMaskedCardNumber,
  MSISDN: isPhoneNumber,
  BSB: isBsb,
  NCC: () => true,
  ABA: isAbaRoutingNumber,
  ABA_WIRE: isAbaRoutingNumber,
  ABA_ACH: isAbaRoutingNumber,
  EMAIL: isEmail,
  ROLL_NUMBER: () => true,
  BLZ: isBlz,
  IFS: isIfsc,
  CLABE: isClabe,
  CTN: () => true,
  BRANCH_CODE: () => true,
  VIRTUAL_ACCOUNT_ID: () => true,
};

export const IDENTIFICATION_TYPES = Object.keys(IDENTIFICATIONS);

/** A value in the format of the member `type` of the same object. */
export const identification = kind('value of the given type', (value, context) => {
  const type = context.value('type');
  return !Object.hasOwn(IDENTIFICATIONS, type) || (IDENTIFICATIONS[type]?.(value, context) ?? true);
});
