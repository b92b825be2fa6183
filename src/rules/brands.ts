/** Every brand that a sale can name, one row each: who processes it, which fields it needs, how long the payer has. */
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
import { LIMITS } from './limits.ts';

export interface Brand {
  /** The connector that speaks to the provider. */
  connector: string;
  /** The outcome is there at once: no payer is waited for. */
  isImmediate?: true;
  /** A payment can be repeated without its payer. */
  recurs?: true;
  /** Money goes out to the person named, not in from a payer. */
  isPayout?: true;
  /** The payer has this long from the sale on, also while the payment is pending; then it is declined. */
  payerTimeMs?: number;
  /** A payment that its provider has accepted waits for its outcome this long from the sale on; then it is declined. */
  pendingMs?: number;
  /** A code that the payer scans is shown for this long. */
  codeTimeMs?: number;
  /** A status query asks the provider, as long as the outcome is open. */
  isAskedOnStatus?: true;
  /** It is a method of one country: payers who are known to be from elsewhere are not offered it. */
  country?: string;
  /** The payer's device makes a token on the merchant's page, so that ours cannot offer it yet. */
  needsToken?: true;
  /** The ways to pay that the provider's page offers, each when all its fields came. */
  methods?: readonly string[];
  /** The fields this brand needs besides the common ones of a sale. */
  fields: readonly Field[];
  about: string;
}

/** A brand that a provider processes over HTTP. */
const upstream = (about: string, fields: readonly Field[], traits: Partial<Brand> = {}): Brand => ({
  connector: 'upstream',
  about,
  fields,
  // A payout is under way at banks; a payer who has not paid after a week will not.
  pendingMs: (traits.isPayout ? 30 : 7) * LIMITS.dayMs,
  ...traits,
});

/** A field that is sent as `parameters[name]`. */
const p = (name: string): string => `parameters[${name}]`;

/** A transfer on a chain is confirmed by then, or was never made. */
const CHAIN_MS = 3 * LIMITS.dayMs;
const COINS = ['BTC', 'ETH', 'USDC', 'USDT'];
const WALLET_TOKEN_LENGTH = 32 * 1024;

const securityQuestion = (question: Field, answer: Field): Field[] => [question, answer];
const answerText = withoutSpaces(3, 25);

/** Three fields of the paying account, asked from payers of one country. */
const accountOf = (where: string): Field[] => [
  ask(p('orgCode'), anyText, { countries: [where], label: 'Bank code' }),
  ask(p('accountName'), text(1, 64), { countries: [where], label: 'Account holder' }),
  ask(p('accountNumber'), anyText, { countries: [where], label: 'Account number' }),
];

const identityOf = (where?: string): Field[] => [
  ask(p('personal_id'), anyText, { ...(where && { countries: [where] }), label: 'Personal ID number' }),
];

const bankIn = (country: string, about: string): Brand => upstream(about, accountOf(country), { country });
const identityIn = (country: string, about: string): Brand => upstream(about, identityOf(country), { country });

const UPI = { label: 'UPI ID', hint: 'Such as name@bank' };
const upiBy = (field: Field): Brand =>
  upstream('UPI in India; the payer approves in their app.', [field], { country: 'IN', pendingMs: LIMITS.dayMs });
const PRICE_HINT = 'A number, such as 4.99';

const S_123 = { methods: ['S1', 'S2', 'S3'] };

export const BRANDS: Readonly<Record<string, Brand>> = {
  vcard: {
    connector: 'vcard',
    isImmediate: true,
    recurs: true,
    fields: [must('identifier', listedIn('vcard.success', 'vcard.decline'), { label: 'Test identifier' })],
    about: 'The test brand: the identifier selects the outcome.',
  },
  'payout-a': upstream(
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
    'A device wallet; the payment token comes from the merchant’s page or app.',
    [must(p('paymentToken'), walletAToken, { isSecret: true, lengthMost: WALLET_TOKEN_LENGTH })],
    { recurs: true, needsToken: true },
  ),
  'wallet-b': upstream(
    'A device wallet; the payment token comes from the merchant’s page or app.',
    [must(p('paymentToken'), walletBToken, { isSecret: true, lengthMost: WALLET_TOKEN_LENGTH })],
    { recurs: true, needsToken: true },
  ),
  ips: upstream(
    'Instant payment by QR code: the merchant shows the code, the payer scans it with the app of their bank.',
    [must('order_currency', oneOf(['EUR', 'RSD', 'BAM', 'MKD']))],
    { codeTimeMs: LIMITS.codeMs, isAskedOnStatus: true, pendingMs: LIMITS.dayMs },
  ),
  'pin-a': upstream('A prepaid voucher.', [
    must(p('pin'), digits(16, 16), { isSecret: true, label: 'Voucher PIN', hint: '16 digits' }),
  ]),
  'telecom-a': upstream('Paid with the phone bill.', [may(p('productReceiver'), anyText)]),
  'bank-a': upstream('A transfer from the payer’s bank account.', [
    must('payer_first_name', anyText, { label: 'First name' }),
    must('payer_last_name', anyText, { label: 'Last name' }),
    must(p('bank_code'), bic, { label: 'SWIFT code (BIC)', hint: '8 or 11 characters, such as DEUTDEFF' }),
    must(p('bank_account_number'), anyText, { label: 'Account number' }),
  ]),
  'transfer-a': upstream(
    'A bank transfer in Argentina; the payer has five minutes.',
    [must('order_currency', oneOf(['ARS'])), ask('bank_cuil', cuil, { label: 'CUIL', hint: '11 digits' })],
    { payerTimeMs: LIMITS.transferMs },
  ),
  'transfer-b': upstream(
    'A bank transfer in Mexico; the payer has five minutes.',
    [must('order_currency', oneOf(['MXN'])), ask('bank_curp', curp, { label: 'CURP', hint: '18 letters and digits' })],
    { payerTimeMs: LIMITS.transferMs },
  ),
  'doc-a': upstream('A local method that needs the payer’s personal id.', [
    must(p('document_number'), anyText, { label: 'Document number' }),
  ]),
  'doc-b': upstream('A local method that needs the payer’s personal id.', [
    must(p('document_number'), anyText, { label: 'Document number' }),
  ]),
  'local-a': upstream('A local method; payers from some countries need a personal id.', [
    must(p('personalId'), personalId, {
      countries: ['BR', 'CL', 'CO'],
      needsCountry: true,
      label: 'Personal ID number',
    }),
  ]),
  'crypto-a': upstream(
    'Paid in the chosen cryptocurrency.',
    [must(p('payment_currency'), oneOf(COINS), { label: 'Cryptocurrency' })],
    { pendingMs: CHAIN_MS },
  ),
  'crypto-a-payout': upstream(
    'A payout in cryptocurrency.',
    [
      must(p('address'), addressOn(p('network'))),
      must(p('currency'), oneOf(COINS)),
      must(p('network'), networkFor(p('currency'), COINS)),
    ],
    { isPayout: true },
  ),
  'crypto-b': upstream('Paid in cryptocurrency.', [must(p('cryptoCurrency'), anyText, { label: 'Cryptocurrency' })], {
    pendingMs: CHAIN_MS,
  }),
  'trading-a': upstream('A deposit to a trading account.', [
    must(p('paymentGatewayName'), anyText, { label: 'Payment service' }),
    must(p('paymentCurrency'), anyText, { label: 'Currency of the payment' }),
    may(p('tradingAccountLogin'), anyText),
  ]),
  'trading-b': upstream(
    'A withdrawal from a trading account to a wallet.',
    [
      must('withdrawCurrency', anyText, { alias: 'withdrawalCurrency' }),
      must('address', anyText),
      may('tradingAccountLogin', anyText),
    ],
    { isPayout: true },
  ),
  'hosted-a': upstream(
    'A provider’s page that offers up to four ways to pay, each when its item fields came.',
    [
      ask(p('product_reference_id'), text(1, 64), { ...S_123, label: 'Product number' }),
      ask(p('product_name'), text(1, 255), { methods: ['S2', 'S3', 'S4'], label: 'Product' }),
      ask(p('product_quantity'), digits(4), { methods: ['S1', 'S2', 'S3', 'S4'], label: 'Quantity' }),
      ask(p('product_sku'), anyText, { ...S_123, label: 'SKU' }),
      ask(p('product_category'), anyText, { ...S_123, label: 'Category' }),
      ask(p('product_url'), link, { methods: ['S2', 'S3'], label: 'Web page of the product' }),
      ask(p('product_image_url'), link, { methods: ['S3'], label: 'Picture of the product' }),
      ask(p('product_type'), anyText, { methods: ['S3'], label: 'Type of product' }),
    ],
    { methods: ['S1', 'S2', 'S3', 'S4'] },
  ),
  'hosted-b': upstream('A provider’s page that converts the amount to another currency.', [
    must(p('toCurrency'), currency, { label: 'Currency to pay in', hint: 'Three letters, such as EUR' }),
  ]),
  'local-b': upstream('A local method; payers need a document, but in three countries.', [
    ask(p('document_number'), anyText, { exceptCountries: ['GT', 'PA', 'CR'], label: 'Document number' }),
    ask(p('document_type'), anyText, { exceptCountries: ['GT', 'PA', 'CR'], label: 'Type of document' }),
  ]),
  'upi-a': upiBy(ask(p('personal_id'), upiAddress, UPI)),
  'upi-b': upiBy(must(p('upi_id'), upiAddress, UPI)),
  'upi-c': upiBy(must(p('upiAddress'), upiAddress, UPI)),
  'p2p-a': upstream(
    'A payout from person to person, with a security question.',
    securityQuestion(
      may(p('SecurityQuestion'), anyText),
      must(p('SecurityQuestionAnswer'), answerText, { isSecret: true }),
    ),
    { isPayout: true },
  ),
  'p2p-b': upstream(
    'A payout from person to person, with an optional security question.',
    securityQuestion(
      may(p('SecurityQuestion'), anyText),
      may(p('SecurityQuestionAnswer'), answerText, { isSecret: true }),
    ),
    { isPayout: true },
  ),
  'bnpl-a': upstream('Buy now, pay later.', [
    must(p('category'), anyText, { label: 'Category' }),
    must(p('buyer_registered_since'), utcMoment, {
      label: 'Customer since',
      hint: 'Date and time, such as 2024-05-31T12:00:00Z',
    }),
    must(p('buyer_loyalty_level'), count, { default: '0' }),
  ]),
  'bnpl-b': upstream('Buy now, pay later.', [
    must(p('shipping_amount'), number, { label: 'Shipping costs', hint: PRICE_HINT }),
    must(p('tax_amount'), number, { label: 'Tax', hint: PRICE_HINT }),
    must(p('product_reference_id'), anyText, { label: 'Product number' }),
    must(p('product_type'), anyText, { label: 'Type of product' }),
    must(p('product_sku'), anyText, { label: 'SKU' }),
    must(p('product_amount'), number, { label: 'Price of the product', hint: PRICE_HINT }),
  ]),
  'open-banking-a': upstream('A payment that the payer approves in their online banking.', [
    must(p('payee_name'), anyText, { label: 'Name of the payee' }),
    must(p('payee_country'), country, { label: 'Country of the payee', hint: 'Two letters, such as DE' }),
    must(p('payee_identifications'), anyText, {
      items: [must('type', oneOf(IDENTIFICATION_TYPES)), must('identification', identification)],
      isSecret: true,
    }),
  ]),
  'mobile-money-a': upstream('Mobile money; the payer approves on their phone.', [
    may(p('AccountProviderCode'), anyText),
    may(p('NarrativeFileName'), anyText, { with: p('NarrativeFileBase64') }),
    may(p('NarrativeFileBase64'), base64, { with: p('NarrativeFileName'), lengthMost: LIMITS.attachmentLength }),
    may(p('ProviderReferenceText'), anyText),
  ]),
  'agg-a': bankIn('TR', 'A bank transfer in Turkey.'),
  'agg-b': bankIn('TR', 'A bank transfer in Turkey.'),
  'agg-c': bankIn('TH', 'A bank transfer in Thailand.'),
  'agg-d': bankIn('TH', 'A bank transfer in Thailand.'),
  'agg-e': identityIn('VN', 'A local method in Vietnam that needs the payer’s identity.'),
  'agg-f': identityIn('VN', 'A local method in Vietnam that needs the payer’s identity.'),
  'agg-g': identityIn('VN', 'A local method in Vietnam that needs the payer’s identity.'),
  'agg-h': identityIn('CO', 'A local method in Colombia that needs the payer’s identity.'),
  'agg-i': identityIn('IN', 'A local method in India that needs the payer’s identity.'),
  'agg-j': identityIn('TR', 'A local method in Turkey that needs the payer’s identity.'),
};

/** The brand of a payment whose payer has not chosen one yet, and the connector that nobody is behind. */
export const NO_BRAND_YET = 'unchosen';
export const NO_CONNECTOR = 'none';

/** Cards are typed on our own page and nowhere else, so no sale of a merchant names them. */
export const CARD = 'card';
const CHECKOUT_BRANDS: Readonly<Record<string, Brand>> = {
  [CARD]: {
    connector: 'upstream',
    recurs: true,
    pendingMs: 7 * LIMITS.dayMs,
    fields: [],
    about: 'A card that the payer types on our page.',
  },
};

/** The row of a brand, whichever way it is paid. */
export const brandOf = (label: string): Brand | undefined => BRANDS[label] ?? CHECKOUT_BRANDS[label];

/** Whether payers may choose it on our page. */
export const isForPayers = ({ isPayout, needsToken }: Brand): boolean => !isPayout && !needsToken;

/** The fields whose values do not count towards the usual size of a body. */
export const LONG_FIELDS: ReadonlySet<string> = new Set(
  Object.values(BRANDS).flatMap(({ fields }) => fields.filter((field) => field.lengthMost).map(({ name }) => name)),
);

/** The brand that a sale means: its label, or an alias that the account set for it. */
export function brandLabel(
  name: string,
  account: { brands: readonly string[]; brand_aliases: Readonly<Record<string, string>> },
  isOffered: (brand: Brand) => boolean,
): string | undefined {
  const label = Object.hasOwn(account.brand_aliases, name) ? account.brand_aliases[name] : name;
  const brand = label !== undefined && Object.hasOwn(BRANDS, label) ? BRANDS[label] : undefined;
  if (label === undefined || !brand || !isOffered(brand)) return undefined;
  return account.brands.length === 0 || account.brands.includes(label) ? label : undefined;
}

/** The fields of the brand itself as they are kept: under their own names, and the secret ones apart. */
export function brandValues(
  { fields }: Brand,
  context: FieldContext,
): { parameters: Record<string, unknown>; secrets: Record<string, unknown> } {
  const parameters: Record<string, unknown> = {};
  const secrets: Record<string, unknown> = {};
  for (const field of fields) {
    if (isCommon(field.name)) continue;
    const value = field.items ? listValue(field.name, field.items, context) : fieldValue(field, context);
    if (value.length > 0) (field.isSecret ? secrets : parameters)[nameInside(field.name)] = value;
  }
  return { parameters, secrets };
}

/** Fields that every sale has are kept with the payment itself. */
const isCommon = (name: string): boolean => /^(order_|payer_|identifier$)/.test(name);

const PARAMETERS = 'parameters[';

/** A name of a sale as it stands in the parameters of a brand: `list[0][type]` for `parameters[list][0][type]`. */
export function nameInside(name: string): string {
  if (!name.startsWith(PARAMETERS)) return name;
  const end = name.indexOf(']');
  return name.slice(PARAMETERS.length, end) + name.slice(end + 1);
}

const listValue = (name: string, items: readonly Field[], context: FieldContext): Record<string, string>[] =>
  context
    .positions(name)
    .toSorted((a, b) => Number(a) - Number(b))
    .map((position) =>
      Object.fromEntries(items.map((item) => [item.name, context.value(`${name}[${position}][${item.name}]`)])),
    );

/** Whether nothing was sent for a row, not even a single object of a list, and nothing is taken instead. */
export const isAbsent = (field: Field, context: FieldContext): boolean =>
  fieldValue(field, context) === '' && !(field.items && context.positions(field.name).length > 0);

/** The sub-methods of a brand all of whose fields came. */
export function offeredMethods({ methods = [], fields }: Brand, context: FieldContext): string[] {
  return methods.filter(
    (method) => !fields.some((field) => field.methods?.includes(method) && isAbsent(field, context)),
  );
}

/**
 * The fields that have to be asked from the payer. Of a brand with sub-methods none, once one of them can be offered;
 * until then those of the sub-method that lacks the least.
 */
export function fieldsToAsk(brand: Brand, context: FieldContext): Field[] {
  const absent = brand.fields.filter(
    (field) => field.need === 'ask' && isNeeded(field, context) && isAbsent(field, context),
  );
  if (!brand.methods) return absent;
  const lacking = brand.methods.map((method) => absent.filter((field) => field.methods?.includes(method)));
  return lacking.reduce((least, fields) => (fields.length < least.length ? fields : least));
}
