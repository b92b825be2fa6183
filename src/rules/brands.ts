/** The table of brands: their connector, the fields they need, their time limits. */
import { type Brand, p, upstream } from './brand.ts';
import { listValue } from './field-lists.ts';
import {
  anyText,
  ask,
  currency,
  type Field,
  type FieldContext,
  fieldValue,
  isNeeded,
  listedIn,
  may,
  must,
  oneOf,
  text,
} from './fields.ts';
import {
  addressOn,
  base64,
  bic,
  count,
  country,
  cuil,
  curp,
  digits,
  IDENTIFICATION_TYPES,
  identification,
  link,
  networkFor,
  number,
  personalId,
  upiAddress,
  utcMoment,
  walletAToken,
  walletBToken,
  withoutSpaces,
} from './formats.ts';
import { KNOWN_BRANDS } from './known-brands.ts';
import { LIMITS } from './limits.ts';

export type { Brand } from './brand.ts';

/** A blockchain transfer that is not confirmed by then was never made. */
const CHAIN_CONFIRMATION_MS = 3 * LIMITS.dayMs;
const COINS = ['BTC', 'ETH', 'USDC', 'USDT'];
const WALLET_TOKEN_LENGTH = 32 * 1024;
/** The payment token of a device wallet. */
export const TOKEN_FIELD = p('paymentToken');

const securityQuestion = (question: Field, answer: Field): Field[] => [question, answer];
const answerText = withoutSpaces(3, 25);

/** Three fields of the paying account, requested from payers of one country. */
const accountOf = (countries: readonly string[]): Field[] => [
  ask(p('orgCode'), anyText, { countries, label: 'Bank code' }),
  ask(p('accountName'), text(1, 64), { countries, label: 'Account holder' }),
  ask(p('accountNumber'), anyText, { countries, label: 'Account number' }),
];

const identityOf = (countries: readonly string[]): Field[] => [
  ask(p('personal_id'), anyText, { countries, label: 'Personal ID number' }),
];

const TURKEY = { countries: ['TR'], currency: 'TRY' };
const THAILAND = { countries: ['TH'], currency: 'THB' };
const VIETNAM = { countries: ['VN'], currency: 'VND' };
const COLOMBIA = { countries: ['CO'], currency: 'COP' };
const INDIA = { countries: ['IN'], currency: 'INR' };
const ARGENTINA = { countries: ['AR'], currency: 'ARS' };
const MEXICO = { countries: ['MX'], currency: 'MXN' };
type Home = Required<Pick<Brand, 'countries' | 'currency'>>;

const bankIn = (home: Home, about: string): Brand => upstream('bank', about, accountOf(home.countries), home);
const identityIn = (home: Home, about: string): Brand => upstream('local', about, identityOf(home.countries), home);

const UPI = { label: 'UPI ID', hint: 'Such as name@bank' };
const upiBy = (field: Field): Brand =>
  upstream('upi', 'UPI in India; the payer approves in their app.', [field], { ...INDIA, pendingMs: LIMITS.dayMs });

/** Payers do not know such values, so Checkout never asks for them. */
const MERCHANT = { by: 'merchant' } as const;
const S_123 = { ...MERCHANT, methods: ['S1', 'S2', 'S3'] };

export const BRANDS: Readonly<Record<string, Brand>> = {
  vcard: {
    connector: 'vcard',
    kind: 'test',
    isImmediate: true,
    recurs: true,
    fields: [
      must('identifier', listedIn('vcard.success', 'vcard.decline'), {
        label: 'Test identifier',
        example: 'success@example.com',
      }),
    ],
    about: 'The test brand: the identifier selects the outcome.',
  },
  'payout-a': upstream(
    'payout',
    'A payout to the person named, who answers a security question to receive it.',
    [
      must('payer_first_name', text(1, 60)),
      must('payer_last_name', text(1, 60)),
      must('payer_email', text(2, 60)),
      must('order_description', text(5, 200)),
      must(p('SecurityQuestion'), text(10, 40)),
      must(p('SecurityQuestionAnswer'), text(3, 40), { isSecret: true }),
      must('account_uuid', anyText, { isSetting: true }),
      must('fee_calculation_method', anyText, { isSetting: true }),
    ],
    { isPayout: true },
  ),
  'wallet-a': upstream(
    'deviceWallet',
    'A device wallet: a button on the payment page. For a sale, the merchant’s page or app provides the payment token.',
    [must(TOKEN_FIELD, walletAToken, { isTransient: true, lengthMost: WALLET_TOKEN_LENGTH })],
    { recurs: true, needsToken: true },
  ),
  'wallet-b': upstream(
    'onlineWallet',
    'A device wallet: a button on the payment page. For a sale, the merchant’s page or app provides the payment token.',
    [must(TOKEN_FIELD, walletBToken, { isTransient: true, lengthMost: WALLET_TOKEN_LENGTH })],
    { recurs: true, needsToken: true },
  ),
  ips: upstream(
    'qr',
    'Instant payment by QR code: the merchant shows the code, and the payer scans it with their banking app.',
    [must('order_currency', oneOf(['EUR', 'RSD', 'BAM', 'MKD']))],
    { codeTimeMs: LIMITS.codeMs, isQueriedOnStatus: true, pendingMs: LIMITS.dayMs },
  ),
  'pin-a': upstream('voucher', 'A prepaid voucher.', [
    must(p('pin'), digits(16, 16), { isSecret: true, label: 'Voucher PIN', hint: '16 digits' }),
  ]),
  'telecom-a': upstream('phoneBill', 'Payment by phone bill.', [may(p('productReceiver'), anyText)]),
  'bank-a': upstream('bank', 'A transfer from the payer’s bank account.', [
    must('payer_first_name', anyText, { label: 'First name' }),
    must('payer_last_name', anyText, { label: 'Last name' }),
    must(p('bank_code'), bic, { label: 'SWIFT code (BIC)', hint: '8 or 11 characters, such as DEUTDEFF' }),
    must(p('bank_account_number'), anyText, { label: 'Account number' }),
  ]),
  'transfer-a': upstream(
    'bank',
    'A bank transfer in Argentina; the payer has five minutes.',
    [must('order_currency', oneOf(['ARS'])), ask('bank_cuil', cuil, { label: 'CUIL', hint: '11 digits' })],
    { ...ARGENTINA, payerTimeMs: LIMITS.transferMs },
  ),
  'transfer-b': upstream(
    'bank',
    'A bank transfer in Mexico; the payer has five minutes.',
    [must('order_currency', oneOf(['MXN'])), ask('bank_curp', curp, { label: 'CURP', hint: '18 letters and digits' })],
    { ...MEXICO, payerTimeMs: LIMITS.transferMs },
  ),
  'doc-a': upstream('personalId', 'A local method that requires the payer’s personal ID.', [
    must(p('document_number'), anyText, { label: 'Document number' }),
  ]),
  'doc-b': upstream('personalId', 'A local method that requires the payer’s personal ID.', [
    must(p('document_number'), anyText, { label: 'Document number' }),
  ]),
  'local-a': upstream('local', 'A local method; payers from some countries must enter a personal ID.', [
    must(p('personalId'), personalId, {
      countries: ['BR', 'CL', 'CO'],
      needsCountry: true,
      label: 'Personal ID number',
    }),
  ]),
  'crypto-a': upstream(
    'coins',
    'Payment in the chosen cryptocurrency.',
    [must(p('payment_currency'), oneOf(COINS), { label: 'Cryptocurrency' })],
    { pendingMs: CHAIN_CONFIRMATION_MS },
  ),
  'crypto-a-payout': upstream(
    'cryptoPayout',
    'A payout in cryptocurrency.',
    [
      must(p('address'), addressOn(p('network'))),
      must(p('currency'), oneOf(COINS)),
      must(p('network'), networkFor(p('currency'), COINS)),
    ],
    { isPayout: true },
  ),
  'crypto-b': upstream(
    'crypto',
    'Payment in cryptocurrency.',
    [must(p('cryptoCurrency'), anyText, { label: 'Cryptocurrency' })],
    {
      pendingMs: CHAIN_CONFIRMATION_MS,
    },
  ),
  'trading-a': upstream('deposit', 'A deposit to a trading account.', [
    must(p('paymentGatewayName'), anyText, MERCHANT),
    must(p('paymentCurrency'), anyText, { label: 'Currency of the payment' }),
    may(p('tradingAccountLogin'), anyText),
  ]),
  'trading-b': upstream(
    'withdrawal',
    'A withdrawal from a trading account to a wallet.',
    [
      must('withdrawCurrency', anyText, { alias: 'withdrawalCurrency' }),
      must('address', anyText),
      may('tradingAccountLogin', anyText),
    ],
    { isPayout: true },
  ),
  'hosted-a': upstream(
    'providerPage',
    'A provider’s page with up to four payment methods; each is offered when its item fields were sent.',
    [
      ask(p('product_reference_id'), text(1, 64), { ...S_123, label: 'Product number' }),
      ask(p('product_name'), text(1, 255), { ...MERCHANT, methods: ['S2', 'S3', 'S4'], label: 'Product' }),
      ask(p('product_quantity'), digits(4), { ...MERCHANT, methods: ['S1', 'S2', 'S3', 'S4'], label: 'Quantity' }),
      ask(p('product_sku'), anyText, { ...S_123, label: 'SKU' }),
      ask(p('product_category'), anyText, { ...S_123, label: 'Category' }),
      ask(p('product_url'), link, { ...MERCHANT, methods: ['S2', 'S3'], label: 'Web page of the product' }),
      ask(p('product_image_url'), link, { ...MERCHANT, methods: ['S3'], label: 'Picture of the product' }),
      ask(p('product_type'), anyText, { ...MERCHANT, methods: ['S3'], label: 'Type of product' }),
    ],
    { methods: ['S1', 'S2', 'S3', 'S4'] },
  ),
  'hosted-b': upstream('otherCurrency', 'A provider’s page that converts the amount to another currency.', [
    must(p('toCurrency'), currency, { label: 'Currency to pay in', hint: 'Three letters, such as EUR' }),
  ]),
  'local-b': upstream('local', 'A local method; payers must enter a document number, except in three countries.', [
    ask(p('document_number'), anyText, { exceptCountries: ['GT', 'PA', 'CR'], label: 'Document number' }),
    ask(p('document_type'), anyText, { exceptCountries: ['GT', 'PA', 'CR'], label: 'Type of document' }),
  ]),
  'upi-a': upiBy(ask(p('personal_id'), upiAddress, UPI)),
  'upi-b': upiBy(must(p('upi_id'), upiAddress, UPI)),
  'upi-c': upiBy(must(p('upiAddress'), upiAddress, UPI)),
  'p2p-a': upstream(
    'personPayout',
    'A payout from person to person, with a security question.',
    securityQuestion(
      may(p('SecurityQuestion'), anyText),
      must(p('SecurityQuestionAnswer'), answerText, { isSecret: true }),
    ),
    { isPayout: true },
  ),
  'p2p-b': upstream(
    'personPayout',
    'A payout from person to person, with an optional security question.',
    securityQuestion(
      may(p('SecurityQuestion'), anyText),
      may(p('SecurityQuestionAnswer'), answerText, { isSecret: true }),
    ),
    { isPayout: true },
  ),
  'bnpl-a': upstream('payLater', 'Buy now, pay later.', [
    must(p('category'), anyText, MERCHANT),
    must(p('buyer_registered_since'), utcMoment, MERCHANT),
    must(p('buyer_loyalty_level'), count, { ...MERCHANT, default: '0' }),
  ]),
  'bnpl-b': upstream('payLater', 'Buy now, pay later.', [
    must(p('shipping_amount'), number, MERCHANT),
    must(p('tax_amount'), number, MERCHANT),
    must(p('product_reference_id'), anyText, MERCHANT),
    must(p('product_type'), anyText, MERCHANT),
    must(p('product_sku'), anyText, MERCHANT),
    must(p('product_amount'), number, MERCHANT),
  ]),
  'open-banking-a': upstream('onlineBanking', 'A payment that the payer approves in their online banking.', [
    must(p('payee_name'), anyText, MERCHANT),
    must(p('payee_country'), country, MERCHANT),
    must(p('payee_identifications'), anyText, {
      ...MERCHANT,
      items: [must('type', oneOf(IDENTIFICATION_TYPES)), must('identification', identification)],
      isSecret: true,
    }),
  ]),
  'mobile-money-a': upstream('mobileMoney', 'Mobile money; the payer approves on their phone.', [
    may(p('AccountProviderCode'), anyText),
    may(p('NarrativeFileName'), anyText, { with: p('NarrativeFileBase64') }),
    may(p('NarrativeFileBase64'), base64, { with: p('NarrativeFileName'), lengthMost: LIMITS.attachmentLength }),
    may(p('ProviderReferenceText'), anyText),
  ]),
  'agg-a': bankIn(TURKEY, 'A bank transfer in Turkey.'),
  'agg-b': bankIn(TURKEY, 'A bank transfer in Turkey.'),
  'agg-c': bankIn(THAILAND, 'A bank transfer in Thailand.'),
  'agg-d': bankIn(THAILAND, 'A bank transfer in Thailand.'),
  'agg-e': identityIn(VIETNAM, 'A local method in Vietnam that needs the payer’s identity.'),
  'agg-f': identityIn(VIETNAM, 'A local method in Vietnam that needs the payer’s identity.'),
  'agg-g': identityIn(VIETNAM, 'A local method in Vietnam that needs the payer’s identity.'),
  'agg-h': identityIn(COLOMBIA, 'A local method in Colombia that needs the payer’s identity.'),
  'agg-i': identityIn(INDIA, 'A local method in India that needs the payer’s identity.'),
  'agg-j': identityIn(TURKEY, 'A local method in Turkey that needs the payer’s identity.'),
  ...KNOWN_BRANDS,
};

/** The brand and the connector of a Checkout payment until the payer has chosen a brand. */
export const NO_BRAND_YET = 'unchosen';
export const NO_CONNECTOR = 'none';

/** Card numbers are entered on the payment page only, so a sale over `/post` cannot name this brand. */
export const CARD = 'card';
const CHECKOUT_BRANDS: Readonly<Record<string, Brand>> = {
  [CARD]: {
    connector: 'upstream',
    kind: 'card',
    recurs: true,
    pendingMs: 7 * LIMITS.dayMs,
    fields: [],
    about: 'A card that the payer enters on the payment page.',
  },
};

/** The labels of all brands, including those of Checkout only. */
export const BRAND_LABELS: readonly string[] = Object.keys({ ...CHECKOUT_BRANDS, ...BRANDS });

/** The table entry of any brand, including those of Checkout only. */
export const brandOf = (label: string): Brand | undefined => BRANDS[label] ?? CHECKOUT_BRANDS[label];

/** The brands of device wallets. */
export const WALLET_BRANDS = ['wallet-a', 'wallet-b'] as const;
export type WalletBrand = (typeof WALLET_BRANDS)[number];

export const isWallet = (label: string): label is WalletBrand => BRANDS[label]?.needsToken === true;

/** Whether payers may fill in a form of the brand on the payment page; wallets have buttons instead. */
export const isForPayers = ({ isPayout, needsToken }: Brand): boolean => !isPayout && !needsToken;

/** The fields whose values do not count towards the size limit of a body. */
export const LONG_FIELDS: ReadonlySet<string> = new Set(
  Object.values(BRANDS).flatMap(({ fields }) => fields.filter((field) => field.lengthMost).map(({ name }) => name)),
);

/** Resolves the brand of a sale: a brand label, or an alias from the account's settings. */
export function brandLabel(
  name: string,
  account: { brands: readonly string[]; brand_aliases: Readonly<Record<string, string>> },
  isOffered: (brand: Brand, label: string) => boolean,
): string | undefined {
  const label = Object.hasOwn(account.brand_aliases, name) ? account.brand_aliases[name] : name;
  const brand = label !== undefined && Object.hasOwn(BRANDS, label) ? BRANDS[label] : undefined;
  if (label === undefined || !brand || !isOffered(brand, label)) return undefined;
  return account.brands.length === 0 || account.brands.includes(label) ? label : undefined;
}

/** The values of the brand's own fields to store, the secret ones separately. */
export function brandValues(
  { fields }: Brand,
  context: FieldContext,
): { parameters: Record<string, unknown>; secrets: Record<string, unknown> } {
  const parameters: Record<string, unknown> = {};
  const secrets: Record<string, unknown> = {};
  for (const field of fields) {
    if (isCommon(field.name) || field.isTransient) continue;
    const value = field.items ? listValue(field.name, field.items, context) : fieldValue(field, context);
    if (value.length > 0) (field.isSecret ? secrets : parameters)[nameInside(field.name)] = value;
  }
  return { parameters, secrets };
}

/** The common fields of a sale are stored with the payment itself. */
export const isCommon = (name: string): boolean => /^(order_|payer_|identifier$)/.test(name);

const PARAMETERS = 'parameters[';

/** The name of a field inside `parameters`: `list[0][type]` for `parameters[list][0][type]`. */
export function nameInside(name: string): string {
  if (!name.startsWith(PARAMETERS)) return name;
  const end = name.indexOf(']');
  return name.slice(PARAMETERS.length, end) + name.slice(end + 1);
}

/** Whether a field has no value: none was sent, no list entry either, and it has no default. */
export const isAbsent = (field: Field, context: FieldContext): boolean =>
  fieldValue(field, context) === '' && !(field.items && context.positions(field.name).length > 0);

/** The sub-methods of a brand whose fields were all sent. */
export function offeredMethods({ methods = [], fields }: Brand, context: FieldContext): string[] {
  return methods.filter(
    (method) => !fields.some((field) => field.methods?.includes(method) && isAbsent(field, context)),
  );
}

/**
 * The fields that the payer has to enter. With sub-methods: none if one of them can be offered, otherwise those of the
 * sub-method with the fewest missing fields.
 */
export function fieldsToAsk(brand: Brand, context: FieldContext): Field[] {
  const absent = brand.fields.filter(
    (field) => field.need === 'ask' && isNeeded(field, context) && isAbsent(field, context),
  );
  if (!brand.methods) return absent;
  const missing = brand.methods.map((method) => absent.filter((field) => field.methods?.includes(method)));
  return missing.reduce((fewest, fields) => (fields.length < fewest.length ? fields : fewest));
}
