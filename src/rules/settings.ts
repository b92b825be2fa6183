/** The table of account settings; the admin API and the docs read it. */

import { NETWORK_NAMES } from '../lib/cards/networks.ts';
import type { HashCase } from '../lib/crypto/hash.ts';
import { isUuid } from '../lib/crypto/id.ts';
import { parseRange } from '../lib/http/address.ts';
import { minorUnits } from '../lib/money/money.ts';
import { isObject, isText } from '../lib/text/json.ts';
import { isPlainText } from '../lib/text/plain-text.ts';
import { mostSimilar } from '../lib/text/similar.ts';
import { BILLING_SETTINGS } from './billing-settings.ts';
import { BRANDS, CARD } from './brands.ts';
import { type CallbackReach, callbackAddress, callbackAddressProblem } from './callback-address.ts';
import { CURRENCIES } from './currencies.ts';
import { DIALECT_SETTINGS } from './dialect-settings.ts';
import { DOCS } from './docs.ts';
import type { Problem } from './errors.ts';
import { expectation } from './expectation.ts';
import { LIMITS } from './limits.ts';
import { PAYER_SETTINGS, type PayerMinutes } from './payer-minutes.ts';
import { isPercent } from './risk/fraud-rates.ts';
import { areVolumeLimits, type VolumeLimit } from './risk/volume-limits.ts';
import {
  choice,
  colour,
  country,
  decimal,
  emailAddress,
  flag,
  isTexts,
  kind,
  locale,
  origins,
  phone,
  publicLink,
  type Row,
  row,
  shownText,
  text,
} from './setting-kinds.ts';
import { certificate, identityKey, walletKey } from './wallet-settings.ts';

export type { SettingInput } from './setting-kinds.ts';

export const ACCOUNT_NAME_LENGTH = 100;

export const isAccountName = (name: unknown): name is string =>
  isText(name, ACCOUNT_NAME_LENGTH) && name.trim() !== '' && isPlainText(name);

/** What a secret setting that has a value reads as. Written back, it leaves the value as it is. */
export const SET = 'set';

const isBrand = (label: string): boolean => label === CARD || Object.hasOwn(BRANDS, label);

const url = kind('an http or https address without a password in it, or empty', (value) => {
  if (value === '') return true;
  const parsed = isText(value, 2048) ? URL.parse(value) : null;
  return /^https?:$/.test(parsed?.protocol ?? '') && parsed?.username === '' && parsed.password === '';
});
const callbackUrl = {
  input: 'text',
  expects: `${callbackAddress.expects}; or empty`,
  check: (value: unknown, reach: CallbackReach) =>
    value === '' ? undefined : callbackAddressProblem(isText(value, LIMITS.callbackUrlLength) ? value : '', reach),
} as const;
const ranges = kind(
  'a list of IP addresses and CIDR ranges',
  (value) => isTexts(value, (range) => parseRange(range) !== undefined),
  'list',
);
const brands = kind('a list of brand labels', (value) => isTexts(value, (brand) => isBrand(brand)), 'list');
const networks = kind(
  'a list of card networks',
  (value) => isTexts(value, (name) => (NETWORK_NAMES as readonly string[]).includes(name)),
  'list',
);
const aliases = kind(
  'an object of alias: brand label',
  (value) => {
    const pairs = isObject(value) ? Object.entries(value) : undefined;
    return (
      pairs?.every(([alias, brand]) => isText(alias, 64) && alias !== '' && isText(brand, 255) && isBrand(brand)) ??
      false
    );
  },
  'pairs',
);
const NAME_KEY = /^([a-z-]+)(\.[a-z]{2,3}(-[A-Za-z0-9]{2,8})*)?$/;
const methodNames = kind(
  'an object of brand label, or brand label and language such as bank-a.de: name of 60 characters or less',
  (value) =>
    isObject(value) &&
    Object.entries(value).every(
      ([key, name]) =>
        isBrand(NAME_KEY.exec(key)?.[1] ?? '') && isText(name, 60) && name.trim() !== '' && isPlainText(name),
    ),
  'pairs',
);
const emails = kind('a list of texts', (value) => isTexts(value, (entry) => entry !== ''), 'list');
const days = kind(
  'a whole number from 1 to 365',
  (value) => Number.isInteger(value) && inRange(value as number),
  'number',
);
const inRange = (value: number): boolean => value >= 1 && value <= 365;
const count = kind(
  'a whole number from 0 to 100000',
  (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 100_000,
  'number',
);
const amountsByCurrency = kind(
  'an object of currency: amount, such as {"EUR": "100.00"}',
  (value) =>
    isObject(value) &&
    Object.entries(value).every(
      ([code, amount]) =>
        CURRENCIES[code] !== undefined &&
        typeof amount === 'string' &&
        minorUnits(amount, CURRENCIES[code].exponent) !== 'malformed',
    ),
  'pairs',
);
const percentage = kind('a percentage such as 0.13, or empty', (value) => value === '' || isPercent(value));
const volumeLimits = kind(
  'a list of limits such as {"per": "day", "currency": "EUR", "brands": [], "amount": "10000.00"}; per is payment, day or month, and a limit has an amount, a count (not per payment) or both',
  areVolumeLimits,
  'json',
);
const uuid = kind('a UUID, or empty', (value) => value === '' || (typeof value === 'string' && isUuid(value)));

const someOf = (...choices: string[]) =>
  kind(
    `a list of ${choices.join(', ')}`,
    (value) => isTexts(value, (entry) => choices.includes(entry)) && new Set(value as string[]).size > 0,
    'list',
  );
const SECRET = { isSecret: true } as const;
const KEEPS_PREVIOUS = `A replaced key stays usable for ${LIMITS.walletKeyOverlapMs / LIMITS.dayMs} days; saving the same key again ends that time.`;

/** Limits against card testing would block a merchant’s own tests, so sandbox accounts have none by default. */
const UNLIMITED_IN_SANDBOX = { sandboxDefault: 0 };

export const SETTINGS = {
  telephone_orders: row(
    false,
    flag,
    'Whether users of the merchant may take cards on the phone: such payments have no 3-D Secure, so the merchant bears the risk.',
  ),
  refunds_allowed: row(true, flag, 'Whether payments of this account may be refunded.'),
  refund_approval_from: row(
    '',
    decimal,
    'The amount from which the refunds of one payment, together, need a second person, in the currency of the payment; empty means never. Holds for the panel and the admin API.',
  ),
  callback_url: row('', callbackUrl, 'The address that callbacks are sent to.'),
  callback_format: row('form', choice('form', 'json'), 'The format of callback bodies.'),
  callback_hash_case: row<HashCase>(
    'ascii',
    choice('ascii', 'unicode'),
    'How the signed text of callbacks and of return parameters is upper-cased: a to z only, or all letters.',
  ),
  whole_amounts_allowed: row(
    false,
    flag,
    'Whether amounts without fraction digits are accepted for currencies that have them, such as `10` for 10.00 EUR.',
  ),
  ...DIALECT_SETTINGS,
  ...BILLING_SETTINGS,
  ...PAYER_SETTINGS,
  ip_allowlist: row<string[]>(
    [],
    ranges,
    'The addresses from which API requests are accepted; empty means any address.',
  ),
  three_ds_link_target: row('', text(64), 'The link target of a 3DS redirect, in place of the default.'),
  account_uuid: row('', uuid, 'The ACCOUNT_UUID that brand payout-a sends to its provider.'),
  fee_calculation_method: row(
    'account_level',
    choice('account_level', 'transaction_level'),
    'How the fees of brand payout-a are calculated.',
  ),
  brands: row<string[]>(
    [],
    brands,
    'The brands that this account may use, in the order of the payment page; empty means all brands.',
  ),
  card_networks: row<string[]>(
    [],
    networks,
    'The card networks that the payment page accepts, in their order on the page; empty means all that the routes take.',
  ),
  brand_aliases: row<Record<string, string>>(
    {},
    aliases,
    'Additional names for brands in the requests of this account.',
  ),
  page_methods: row<string[]>(
    [],
    brands,
    'The methods that the payment page shows, by label, in this order; empty means all allowed brands. A session can name others, and sales over /post are not affected.',
  ),
  method_names: row<Record<string, string>>(
    {},
    methodNames,
    'The names of methods on the payment page: by brand label for all languages, or with a language, such as bank-a.de, for one. A method without a name has the translated name of its kind.',
  ),
  return_parameters: row(
    false,
    flag,
    'Whether the gateway adds the payment to the query of the address that the payer returns to. Only a return to success_url after a successful payment includes a hash.',
  ),
  order_id_reuse: row(
    'after_failure',
    choice('after_failure', 'never'),
    'Whether a new payment of an order is accepted after all its earlier payments have failed.',
  ),
  authorisation_days: row(7, days, 'The number of days after which an authorisation that was not captured expires.'),
  requests_per_second: row(
    500,
    count,
    'The maximum number of API requests of this account per second and process, with bursts of up to three seconds; 0 means no limit.',
  ),
  card_tries_per_session: row(
    10,
    count,
    'The maximum number of card attempts in one session; 0 means no limit.',
    UNLIMITED_IN_SANDBOX,
  ),
  card_failures_per_address: row(
    20,
    count,
    'The maximum number of card attempts without a successful payment from one payer address in ten minutes; 0 means no limit.',
    UNLIMITED_IN_SANDBOX,
  ),
  card_failures_per_account: row(
    100,
    count,
    'The number of declined cards in ten minutes after which the account accepts no more cards, if at least four of five of its latest attempts were declined; 0 means no limit.',
    UNLIMITED_IN_SANDBOX,
  ),
  'risk.review_score': row(0, count, 'The score of risk rules from which a payment is reviewed; 0 means never.'),
  'risk.block_score': row(0, count, 'The score of risk rules from which a payment is blocked; 0 means never.'),
  'risk.on_failure': row(
    'continue',
    choice('continue', 'review'),
    'What happens to a payment whose risk rules could not be evaluated: it continues, or it is reviewed.',
  ),
  'risk.transaction_risk_limit': row<Record<string, string>>(
    {},
    amountsByCurrency,
    'Up to which amount a rule may ask for the exemption `transaction_risk`, by currency; never in a currency that is not listed.',
  ),
  'risk.fraud_rate_limit': row(
    '',
    percentage,
    'The fraud rate of a connection in percent, above which rules do not ask for the exemption `transaction_risk` there; empty means no limit.',
  ),
  volume_limits: row<VolumeLimit[]>(
    [],
    volumeLimits,
    'How much the account may take per payment, day or month (UTC) in a currency, with all brands or with some. Sales above a limit are declined.',
  ),

  descriptor: row('', text(22), 'The text on the payer’s statement; empty means the account name.'),
  'branding.name': row('', shownText(100), 'The name on the payment page; empty means the account name.'),
  'branding.logo': row('', url, 'The address of the logo on the payment page.'),
  'branding.colour': row('', colour, 'The main colour of the payment page.'),
  'branding.support_email': row(
    '',
    emailAddress,
    'The e-mail address for questions of payers, in the footer of the payment page.',
  ),
  'branding.support_phone': row('', phone, 'The phone number for questions of payers.'),
  'branding.support_url': row('', publicLink, 'The address of the help page for payers.'),
  'branding.terms_url': row('', publicLink, 'The address of the terms of the shop.'),
  'branding.privacy_url': row('', publicLink, 'The address of the privacy notice of the shop.'),
  receipts: row(
    'off',
    choice('off', 'email'),
    'Whether payers get receipts by e-mail. Needs TURNPIKE_SMTP_URL, and the e-mail address of the payer.',
  ),
  receipt_email_asked: row(
    false,
    flag,
    'Whether the payment page asks payers for an e-mail address for the receipt, if receipts are sent and the merchant sent none.',
  ),
  invoice_reminders: row(false, flag, 'Whether payers are reminded by e-mail of invoices near their due date.'),
  locale: row('', locale, 'The language of the payment page; empty means the language of the payer’s browser.'),
  frame_ancestors: row<string[]>(
    [],
    origins,
    'The origins that may embed the payment page in a frame; empty means none. Origins with plain http work in the sandbox only.',
  ),
  'vcard.success': row<string[]>(
    ['success@example.com', 'success@gmail.com'],
    emails,
    'The identifiers for which the test brand vcard succeeds.',
  ),
  'vcard.decline': row<string[]>(
    ['decline@example.com', 'fail@gmail.com'],
    emails,
    'The identifiers for which the test brand vcard declines.',
  ),
  'wallets.pretend': row(
    true,
    flag,
    'Sandbox only: the payment page opens the pretend wallet of the sandbox, in any browser. Without it, the page uses the wallets of the vendors, with keys and certificates that the vendors know.',
  ),
  'wallets.wallet-a.merchant_identifier': row(
    '',
    text(255),
    'The merchant identifier that the wallet’s vendor registered, such as merchant.com.example.shop. Tokens for another one are refused.',
  ),
  'wallets.wallet-a.country': row('', country, 'The country of the shop, for the payment sheet of wallet-a.'),
  'wallets.wallet-a.shop_name': row(
    '',
    text(64),
    'The name on the payment sheet of wallet-a; empty means the name on the payment page.',
  ),
  'wallets.wallet-a.certificate': row(
    '',
    certificate,
    'The merchant identity certificate of wallet-a, as PEM: the file that the vendor’s portal offers after you upload a certificate signing request. The panel converts the file; for the admin API, openssl x509 -inform der does.',
  ),
  'wallets.wallet-a.private_key': row(
    '',
    identityKey,
    'The private key of the merchant identity certificate, as PEM: the key with which you created the certificate signing request.',
    SECRET,
  ),
  'wallets.wallet-a.merchant_capabilities': row<string[]>(
    ['supports3DS'],
    someOf('supports3DS', 'supportsEMV', 'supportsCredit', 'supportsDebit'),
    'What the payment sheet of wallet-a accepts.',
  ),
  'wallets.wallet-a.supported_networks': row<string[]>(
    ['visa', 'masterCard', 'amex', 'discover', 'jcb'],
    someOf('visa', 'masterCard', 'amex', 'discover', 'jcb', 'maestro'),
    'The card networks that the payment sheet of wallet-a accepts.',
  ),
  'wallets.wallet-a.processing_private_key': row(
    '',
    walletKey,
    `The private key of the payment processing certificate of wallet-a, as PEM, which may be on one line: the key with which you created the certificate signing request. It decrypts payment tokens. ${KEEPS_PREVIOUS}`,
    SECRET,
  ),
  'wallets.wallet-a.processing_certificate': row(
    '',
    certificate,
    'The payment processing certificate of wallet-a, as PEM, from the vendor’s portal; optional. If it is set, it is compared with the processing key and the merchant identifier, and the panel shows when it expires.',
  ),
  'wallets.wallet-b.environment': row(
    'TEST',
    choice('TEST', 'PRODUCTION'),
    'The environment of wallet-b in which the tokens are made. Tokens of the other one are refused.',
  ),
  'wallets.wallet-b.allowed_auth_methods': row<string[]>(
    ['PAN_ONLY', 'CRYPTOGRAM_3DS'],
    someOf('PAN_ONLY', 'CRYPTOGRAM_3DS'),
    'The kinds of cards that the payment page accepts from wallet-b: PAN_ONLY are card numbers, for which the payer authenticates by 3DS; CRYPTOGRAM_3DS are authenticated by the device.',
  ),
  'wallets.wallet-b.supported_networks': row<string[]>(
    ['AMEX', 'DISCOVER', 'JCB', 'MASTERCARD', 'VISA'],
    someOf('AMEX', 'DISCOVER', 'JCB', 'MASTERCARD', 'VISA'),
    'The card networks that the payment page accepts from wallet-b.',
  ),
  'wallets.wallet-b.private_key': row(
    '',
    walletKey,
    `The private key that decrypts the payment tokens of wallet-b, as PEM, which may be on one line; its public key is registered with the wallet’s vendor. ${KEEPS_PREVIOUS}`,
    SECRET,
  ),
  'wallets.wallet-b.merchant_name': row(
    '',
    text(64),
    'The name on the payment sheet of wallet-b; empty means the name on the payment page.',
  ),
  'wallets.wallet-b.merchant_id': row(
    '',
    text(64),
    'The merchant id that the wallet’s vendor issued. The payment page offers wallet-b in the environment PRODUCTION only with it.',
  ),
} as const satisfies Record<
  string,
  | Row<never>
  | Row<PayerMinutes>
  | Row<string>
  | Row<boolean>
  | Row<number>
  | Row<string[]>
  | Row<Record<string, string>>
  | Row<VolumeLimit[]>
>;

export type SettingName = keyof typeof SETTINGS;

/** All settings of one account, defaults filled in. */
export type Settings = { readonly [Name in SettingName]: (typeof SETTINGS)[Name]['default'] };

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

export const isSecretSetting = (name: SettingName): boolean => (SETTINGS[name] as Row<unknown>).isSecret === true;

const defaultsIn = (environment: 'sandbox' | 'production'): Record<string, unknown> =>
  Object.fromEntries(
    SETTING_NAMES.map((name) => {
      const row: Row<unknown> = SETTINGS[name];
      return [name, (environment === 'sandbox' ? row.sandboxDefault : undefined) ?? row.default];
    }),
  );

const DEFAULTS = { sandbox: defaultsIn('sandbox'), production: defaultsIn('production') } as const;

/** Completes the settings that were set with the defaults of the environment. */
export const completeSettings = (
  set: Record<string, unknown>,
  environment: 'sandbox' | 'production' = 'production',
): Settings => ({ ...DEFAULTS[environment], ...set }) as Settings;

/** Access to settings by name, for field checks. */
export const settingsReader =
  (settings: Settings) =>
  (name: string): unknown =>
    settings[name as SettingName];

/** Reads settings from JSON, nested (`branding: {name}`) or dotted, and reports every invalid one. */
export function readSettings(
  input: Record<string, unknown>,
  reach: CallbackReach = { allowsHttp: false },
): {
  set: Partial<Record<SettingName, unknown>>;
  problems: Problem[];
} {
  const set: Partial<Record<SettingName, unknown>> = {};
  const problems: Problem[] = [];
  const read = (name: string, value: unknown): void => {
    if (Object.hasOwn(SETTINGS, name)) {
      if (value === SET && isSecretSetting(name as SettingName)) return;
      const { check, expects } = SETTINGS[name as SettingName];
      const sentence = check(value, reach);
      if (sentence) problems.push({ field: name, sentence, expected: expectation(expects), docs: DOCS.settings });
      else set[name as SettingName] = value;
    } else if (SETTING_NAMES.some((other) => other.startsWith(`${name}.`)) && isObject(value)) {
      for (const [key, inner] of Object.entries(value)) read(`${name}.${key}`, inner);
    } else {
      const meant = mostSimilar(name, SETTING_NAMES);
      problems.push({
        field: printableName(name),
        sentence: 'This setting does not exist.',
        hint: meant && `Did you mean ${meant}?`,
        docs: DOCS.settings,
      });
    }
  };
  for (const [name, value] of Object.entries(input)) read(name, value);
  return { set, problems };
}

const printableName = (name: string): string => (/^[\w.-]{1,64}$/.test(name) ? name : 'body');

/** Settings for a JSON response: dotted names become nested objects. */
export function nestSettings(settings: Settings): Record<string, unknown> {
  const nested: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) {
    const parts = name.split('.');
    const last = parts.pop() as string;
    let inside = nested;
    for (const part of parts) {
      inside[part] ??= {};
      inside = inside[part] as Record<string, unknown>;
    }
    inside[last] = settings[name];
  }
  return nested;
}
