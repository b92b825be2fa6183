/** Example requests of every brand and examples of payee identifications; the tests run all of them. */

export interface Example {
  currency?: string;
  /** The amount, if other fields add up to it. */
  amount?: string;
  /** The fields in addition to the common fields of a sale. */
  fields?: Readonly<Record<string, string>>;
}

const p = (name: string): string => `parameters[${name}]`;

const WALLET_A_TOKEN = {
  paymentData: {
    data: 'ZW5jcnlwdGVkIGJ5IHRoZSB3YWxsZXQ=',
    signature: 'c2lnbmVkIGJ5IHRoZSB3YWxsZXQ=',
    header: {
      publicKeyHash: 'aGFzaCBvZiB0aGUga2V5',
      ephemeralPublicKey: 'a2V5IG9mIHRoaXMgcGF5bWVudA==',
      transactionId: '31323334',
    },
    version: 'EC_v1',
  },
  paymentMethod: { displayName: 'Visa 0492', network: 'Visa', type: 'debit' },
  transactionIdentifier: '31323334',
};

const WALLET_B_TOKEN = {
  apiVersionMinor: 0,
  apiVersion: 2,
  paymentMethodData: {
    description: 'Visa 0492',
    tokenizationData: {
      type: 'PAYMENT_GATEWAY',
      token: {
        signature: 'c2lnbmVkIGJ5IHRoZSB3YWxsZXQ=',
        intermediateSigningKey: { signedKey: 'a2V5', signatures: ['c2lnbmF0dXJl'] },
        protocolVersion: 'ECv2',
        signedMessage: { encryptedMessage: 'bWVzc2FnZQ==', ephemeralPublicKey: 'a2V5', tag: 'dGFn' },
      },
    },
    type: 'CARD',
    info: { cardNetwork: 'VISA', cardDetails: '0492' },
  },
};

const account = (country: string, currency: string, code: string, name: string, number: string): Example => ({
  currency,
  fields: {
    payer_country: country,
    [p('orgCode')]: code,
    [p('accountName')]: name,
    [p('accountNumber')]: number,
  },
});

const identity = (country: string, currency: string, id: string): Example => ({
  currency,
  fields: { payer_country: country, [p('personal_id')]: id },
});

export const EXAMPLES: Readonly<Record<string, Example>> = {
  vcard: {},
  'payout-a': {
    fields: {
      payer_first_name: 'Ana',
      payer_last_name: 'Petrovic',
      payer_email: 'ana@example.com',
      [p('SecurityQuestion')]: 'Name of your first pet?',
      [p('SecurityQuestionAnswer')]: 'Rex',
    },
  },
  'wallet-a': { fields: { [p('paymentToken')]: JSON.stringify(WALLET_A_TOKEN, null, 2) } },
  'wallet-b': { fields: { [p('paymentToken')]: JSON.stringify(WALLET_B_TOKEN, null, 2) } },
  ips: { currency: 'RSD' },
  'pin-a': { fields: { [p('pin')]: '6337180011223344' } },
  'telecom-a': { fields: { [p('productReceiver')]: '0641234567' } },
  'bank-a': {
    fields: {
      payer_first_name: 'Ana',
      payer_last_name: 'Petrovic',
      [p('bank_code')]: 'DEUTDEFF',
      [p('bank_account_number')]: '0532013000',
    },
  },
  'transfer-a': { currency: 'ARS', fields: { bank_cuil: '20-12345678-6' } },
  'transfer-b': { currency: 'MXN', fields: { bank_curp: 'HEGG560427MVZRRL04' } },
  'doc-a': { fields: { [p('document_number')]: '30123456' } },
  'doc-b': { fields: { [p('document_number')]: '30123456' } },
  'local-a': { currency: 'BRL', fields: { payer_country: 'BR', [p('personalId')]: '11144477735' } },
  'crypto-a': { fields: { [p('payment_currency')]: 'BTC' } },
  'crypto-a-payout': {
    fields: {
      [p('address')]: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
      [p('currency')]: 'USDT',
      [p('network')]: 'TRX',
    },
  },
  'crypto-b': { fields: { [p('cryptoCurrency')]: 'ETH' } },
  'trading-a': { fields: { [p('paymentGatewayName')]: 'Cards', [p('paymentCurrency')]: 'EUR' } },
  'trading-b': { fields: { withdrawCurrency: 'BTC', address: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa' } },
  'hosted-a': { fields: { [p('product_name')]: 'Teapot', [p('product_quantity')]: '2' } },
  'hosted-b': { fields: { [p('toCurrency')]: 'USD' } },
  'local-b': {
    currency: 'PEN',
    fields: { payer_country: 'PE', [p('document_number')]: '45678912', [p('document_type')]: 'DNI' },
  },
  'upi-a': { currency: 'INR', fields: { [p('personal_id')]: 'ana@upi' } },
  'upi-b': { currency: 'INR', fields: { [p('upi_id')]: 'ana@upi' } },
  'upi-c': { currency: 'INR', fields: { [p('upiAddress')]: 'ana@upi' } },
  'p2p-a': { fields: { [p('SecurityQuestionAnswer')]: 'Rex' } },
  'p2p-b': { fields: { [p('SecurityQuestion')]: 'First pet?', [p('SecurityQuestionAnswer')]: 'Rex' } },
  'bnpl-a': { fields: { [p('category')]: 'Kitchen', [p('buyer_registered_since')]: '2024-05-31T12:00:00Z' } },
  'bnpl-b': {
    fields: {
      [p('shipping_amount')]: '4.99',
      [p('tax_amount')]: '1.60',
      [p('product_reference_id')]: 'item-1',
      [p('product_type')]: 'physical',
      [p('product_sku')]: 'TEAPOT-1',
      [p('product_amount')]: '15.00',
    },
  },
  'open-banking-a': {
    currency: 'GBP',
    fields: {
      [p('payee_name')]: 'Tea House',
      [p('payee_country')]: 'GB',
      [p('payee_identifications][0][type')]: 'SORT_CODE',
      [p('payee_identifications][0][identification')]: '20-00-00',
      [p('payee_identifications][1][type')]: 'ACCOUNT_NUMBER',
      [p('payee_identifications][1][identification')]: '31926819',
    },
  },
  'mobile-money-a': { currency: 'KES', fields: { [p('ProviderReferenceText')]: 'Thank you' } },
  'agg-a': account('TR', 'TRY', '0010', 'Elif Demir', '1234567890'),
  'agg-b': account('TR', 'TRY', '0010', 'Elif Demir', '1234567890'),
  'agg-c': account('TH', 'THB', '004', 'Somchai Dee', '1234567890'),
  'agg-d': account('TH', 'THB', '004', 'Somchai Dee', '1234567890'),
  'agg-e': identity('VN', 'USD', '001099012345'),
  'agg-f': identity('VN', 'USD', '001099012345'),
  'agg-g': identity('VN', 'USD', '001099012345'),
  'agg-h': identity('CO', 'COP', '1032456789'),
  'agg-i': identity('IN', 'INR', 'ABCDE1234F'),
  'agg-j': identity('TR', 'TRY', '10000000146'),
  ideal: { currency: 'EUR' },
  bancontact: { currency: 'EUR' },
  eps: { currency: 'EUR' },
  przelewy24: { currency: 'PLN' },
  blik: { currency: 'PLN', fields: { [p('code')]: '777123' } },
  twint: { currency: 'CHF' },
  swish: { currency: 'SEK' },
  mobilepay: { currency: 'DKK' },
  mbway: { currency: 'EUR', fields: { payer_phone: '+351912345678' } },
  paypal: { currency: 'EUR' },
  klarna: {
    currency: 'EUR',
    amount: '19.99',
    fields: {
      'order_lines[0][name]': 'Teapot',
      'order_lines[0][amount]': '14.99',
      order_shipping: '5.00',
    },
  },
  'sepa-debit': {
    currency: 'EUR',
    fields: { payer_first_name: 'Ana', payer_last_name: 'Petrovic', [p('iban')]: 'DE89370400440532013000' },
  },
};

interface Identification {
  expects: string;
  example: string;
}

const ROUTING = 'nine digits with a valid check digit';
const anyText = (example: string): Identification => ({ expects: 'text', example });

/** The payee identification types of `open-banking-a`. */
export const IDENTIFICATIONS: Readonly<Record<string, Identification>> = {
  SORT_CODE: { expects: 'six digits, with or without hyphens', example: '20-00-00' },
  ACCOUNT_NUMBER: anyText('31926819'),
  IBAN: {
    expects: 'IBAN in capital letters, without spaces, with valid check digits',
    example: 'GB29NWBK60161331926819',
  },
  BBAN: { expects: 'account number in the format of the payee’s country', example: 'NWBK60161331926819' },
  BIC: { expects: 'SWIFT code of 8 or 11 characters', example: 'NWBKGB2L' },
  PAN: { expects: 'card number of 12 to 19 digits with a valid check digit', example: '4111111111111111' },
  MASKED_PAN: {
    expects: 'card number of 12 to 19 characters; at most the first eight and the last four digits are unmasked',
    example: '411111******1111',
  },
  MSISDN: {
    expects: 'phone number with country code, 7 to 15 digits, optionally with a leading plus sign',
    example: '+447911123456',
  },
  BSB: { expects: 'six digits, with or without a hyphen', example: '062-000' },
  NCC: anyText('204514'),
  ABA: { expects: ROUTING, example: '021000021' },
  ABA_WIRE: { expects: ROUTING, example: '026009593' },
  ABA_ACH: { expects: ROUTING, example: '122105155' },
  EMAIL: { expects: 'e-mail address', example: 'ana@example.com' },
  ROLL_NUMBER: anyText('A/1234567-8'),
  BLZ: { expects: 'eight digits; the first digit is 1 to 8', example: '37040044' },
  IFS: { expects: 'four capital letters, a zero, six capital letters or digits', example: 'SBIN0000300' },
  CLABE: { expects: '18 digits with a valid check digit', example: '032180000118359719' },
  CTN: anyText('CTN-0042'),
  BRANCH_CODE: anyText('250655'),
  VIRTUAL_ACCOUNT_ID: anyText('VA-000123'),
};
