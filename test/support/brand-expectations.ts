/** The fields of every brand, written independently of the product, so that a wrong table entry fails. */
import type { Fields } from './gateway.ts';

export const BLANK = 'This value should not be blank.';
export const INVALID = 'This value is not valid.';
export const NOT_A_CHOICE = 'The value you selected is not a valid choice.';
export const NOT_URL = 'This value is not a valid URL.';
export const SPACES = 'This value should not contain spaces.';
export const NOT_JSON = 'This value should be a JSON object.';
export const NOT_A_LIST = 'This value should be a list of objects.';
export const NOT_SINGLE = 'This value should be a single text, not a list or an object.';
export const NOT_SET = 'This value should be set in the settings of the account.';
export const DIFFERENT = 'This value should be the same as withdrawalCurrency, or only one of them sent.';
export const tooLong = (most: number): string => `This value is too long. It should have ${most} characters or less.`;
export const tooShort = (least: number): string =>
  `This value is too short. It should have ${least} characters or more.`;
const lacks = (path: string): string => `This value should have ${path}.`;

type Bad = readonly (readonly [value: string, sentence: string])[];

export interface Case {
  words: string;
  /** Added to the complete request; an empty value is not sent. */
  fields: Fields;
  /** The expected refusals; none when left out. */
  problems?: Fields;
  /** The fields that the payer is asked for; none when left out. */
  asks?: readonly string[];
  /** The resulting values of the brand, where they differ from the request. */
  kept?: Readonly<Record<string, unknown>>;
}

export interface BrandExpectation {
  /** The fields of a complete request besides the default fields of a sale. */
  complete: Fields;
  /** Required settings of the account. */
  settings?: Readonly<Record<string, string>>;
  /** Fields whose absence is refused, and the refusal. */
  required?: Fields;
  /** Fields whose absence sends the payer to the payment page. */
  asked?: readonly string[];
  /** Those of `asked` that the simulated provider does not need, so that its payers are not asked. */
  unneeded?: readonly string[];
  optional?: readonly string[];
  /** Names, without brackets, of secret fields. */
  secret?: readonly string[];
  /** Names, without brackets, of fields that are used and not stored. */
  notStored?: readonly string[];
  /** Values that are stored although they are not fields of the request, or were not sent. */
  added?: Fields;
  /** Values just inside the bounds, each replacing one of the complete request. */
  good?: Readonly<Record<string, readonly string[]>>;
  /** Values just outside the bounds. */
  bad?: Readonly<Record<string, Bad>>;
  cases?: readonly Case[];
  /** The sub-methods on offer, each when all these fields are sent. */
  subMethods?: Readonly<Record<string, readonly string[]>>;
}

const p = (name: string): string => `parameters[${name}]`;
const all = (fields: readonly string[], sentence: string): Fields =>
  Object.fromEntries(fields.map((field) => [field, sentence]));
const blank = (...fields: string[]): Fields => all(fields, BLANK);
const each = (values: readonly string[], sentence: string): Bad => values.map((value) => [value, sentence]);
const letters = (length: number): string => 'x'.repeat(length);

/** The request without a field; a list is removed with all its items. */
export const without = (fields: Fields, ...names: readonly string[]): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(([field]) => !names.some((name) => field === name || field.startsWith(`${name}[`))),
  );

/** The complete request with the changes of a case. */
export const changedBy = ({ complete }: Pick<BrandExpectation, 'complete'>, changes: Fields): Fields =>
  Object.fromEntries(Object.entries({ ...complete, ...changes }).filter(([, value]) => value !== ''));

type Json = { [name: string]: Json | string | number | string[] };

/** A copy of a token without the member at a path; members that hold JSON text are parsed on the way. */
function lacking(token: Json, [name = '', ...inside]: readonly string[]): Json {
  const { [name]: member, ...others } = token;
  if (inside.length === 0 || member === undefined) return others;
  const isText = typeof member === 'string';
  const rest = lacking(isText ? JSON.parse(member) : member, inside);
  return { ...token, [name]: isText ? JSON.stringify(rest) : rest };
}

const incomplete = (token: Json, paths: readonly string[]): Bad =>
  paths.map((path) => [JSON.stringify(lacking(token, path.split('.'))), lacks(path)]);

const NOT_JSON_AT_ALL: Bad = each(['token', '{', '{"paymentData":', "{'a': 1}", 'undefined'], NOT_JSON);

const TOKEN_A: Json = {
  paymentData: {
    data: 'bm90IGEgcmVhbCBwYXltZW50LCBidXQgYXMgbG9uZyBhcyBvbmU=',
    signature: 'MIAGCSqGSIb3DQEHAqCAMIACAQExDzANBglghkgBZQMEAgEFADCA',
    header: {
      publicKeyHash: 'iE7oYdkLJ3o0bN0Y8gM9C1nBGv4tDsy4aQkqSCH4kQs=',
      ephemeralPublicKey: 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE',
      transactionId: '2686f5297f123ec7fd9d31074d43d201953ca75f098890375f13aed2737d92f2',
    },
    version: 'EC_v1',
  },
  paymentMethod: { displayName: 'Visa 0492', network: 'Visa', type: 'debit' },
  transactionIdentifier: '2686F5297F123EC7FD9D31074D43D201953CA75F098890375F13AED2737D92F2',
};

const SIGNED_MESSAGE: Json = {
  encryptedMessage: 'c2VjcmV0IGVub3VnaA==',
  ephemeralPublicKey: 'BPhVspn70Zj2Kkgu9t8+ApEuUWsI/zos5whGCQBlgOkuYagOis7q',
  tag: 'TjkIKzIOvCrFvjf7/aeeL8/FZJ3tigaNnerag68hIaw=',
};
const SIGNED: Json = {
  signature: 'MEYCIQDn7C4bLkZ0mNsgV4XhQOq5sYv0oI8kJ9pB2i0CIQCm',
  intermediateSigningKey: {
    signedKey: '{"keyExpiration":"1893456000000","keyValue":"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE"}',
    signatures: ['MEUCIQDzEJ8c6p3wJbO5pFhNvYQm'],
  },
  protocolVersion: 'ECv2',
  signedMessage: JSON.stringify(SIGNED_MESSAGE),
};
const tokenB = (token: Json | string): Json => ({
  apiVersionMinor: 0,
  apiVersion: 2,
  paymentMethodData: {
    description: 'Visa •••• 0492',
    tokenizationData: { type: 'PAYMENT_GATEWAY', token },
    type: 'CARD',
    info: { cardNetwork: 'VISA', cardDetails: '0492' },
  },
});
const TOKEN_B = tokenB(JSON.stringify(SIGNED));
const IN_TOKEN_B = 'paymentMethodData.tokenizationData.token';

const QUESTION = p('SecurityQuestion');
const ANSWER = p('SecurityQuestionAnswer');
const SHORT_ANSWERS = {
  good: { [ANSWER]: ['Rex', letters(25), 'čšž', '***'] },
  bad: {
    [ANSWER]: [
      ['Re', tooShort(3)],
      [letters(26), tooLong(25)],
      ['my dog', SPACES],
      [' Rex', SPACES],
      ['Rex ', SPACES],
      ['my\tdog', SPACES],
      ['my\u00a0dog', SPACES],
    ],
  },
} as const;

const UPI = {
  good: ['ab@upi', '9876543210@paytm', 'first.last-2@okhdfcbank'],
  bad: each(['ravi.kumar', '@okhdfcbank', 'ravi@', 'ravi kumar@okhdfcbank', 'a@b@c'], INVALID),
} as const;

const document = (number: string): BrandExpectation => ({
  complete: { [p('document_number')]: number },
  required: blank(p('document_number')),
  good: { [p('document_number')]: ['1', 'AB-123.456/7', letters(255)] },
});

const COINS = ['BTC', 'ETH', 'USDC', 'USDT'];
const NO_COINS: Bad = each(['btc', 'XRP', 'TRX', 'BSC', 'BTC,ETH', ' BTC', 'USD', '__proto__'], NOT_A_CHOICE);

/** Valid addresses of each network, and addresses that their checksum or form reveals as invalid. */
const ADDRESSES: Readonly<Record<string, { right: string[]; wrong: string[] }>> = {
  BTC: {
    right: [
      '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
      '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
    ],
    wrong: [
      '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb',
      '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLz',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5',
      'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
      'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
      'somewhere',
    ],
  },
  ETH: {
    right: [
      '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
      '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed',
    ],
    wrong: [
      '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed',
      '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe',
      '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
    ],
  },
  BSC: {
    right: ['0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB', '0xdbf03b407c01e7cd3cbea99509d93f8dddc8c6fb'],
    wrong: ['0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6Fb', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  },
  TRX: {
    right: ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR'],
    wrong: [
      'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u',
      '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
      '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    ],
  },
};
const NETWORKS = Object.keys(ADDRESSES);
const CARRIED = ['BTC on BTC', 'ETH on ETH', 'USDT on ETH', 'USDT on BSC', 'USDT on TRX', 'USDC on ETH', 'USDC on BSC'];
const coinOn = (network: string): string => (network === 'BTC' ? 'BTC' : 'USDT');

const payoutCases: Case[] = [
  ...NETWORKS.flatMap((network) =>
    COINS.map((coin) => {
      const words = `${coin} on ${network}`;
      const fields = {
        [p('currency')]: coin,
        [p('network')]: network,
        [p('address')]: ADDRESSES[network]?.right[0] as string,
      };
      return CARRIED.includes(words)
        ? { words, fields }
        : { words, fields, problems: { [p('network')]: NOT_A_CHOICE } };
    }),
  ),
  ...NETWORKS.flatMap((network) => {
    const fields = (address: string): Fields => ({
      [p('currency')]: coinOn(network),
      [p('network')]: network,
      [p('address')]: address,
    });
    return [
      ...(ADDRESSES[network]?.right ?? []).map((address) => ({
        words: `${address} is on ${network}`,
        fields: fields(address),
      })),
      ...(ADDRESSES[network]?.wrong ?? []).map((address) => ({
        words: `${address} is not on ${network}`,
        fields: fields(address),
        problems: { [p('address')]: INVALID },
      })),
    ];
  }),
];

const LIST = p('payee_identifications');
const typeAt = (position: number): string => `${LIST}[${position}][type]`;
const identificationAt = (position: number): string => `${LIST}[${position}][identification]`;

/** Every identification type with valid values, and with invalid ones where the type has a format. */
export const IDENTIFICATIONS: Readonly<Record<string, { right: string[]; wrong: string[] }>> = {
  SORT_CODE: { right: ['200000', '20-00-00'], wrong: ['20000', '2000000', '20-0000', '20000A'] },
  ACCOUNT_NUMBER: { right: ['31926819', '1', 'ES 12/34'], wrong: [] },
  IBAN: {
    right: ['GB29NWBK60161331926819', 'DE89370400440532013000', 'NO9386011117947'],
    wrong: ['GB29NWBK60161331926818', 'GB29NWBK6016133192681', 'XX89370400440532013000', '31926819'],
  },
  BBAN: { right: ['NWBK60161331926819'], wrong: ['NWBK6016133192681', 'NWBK601613319268190', '1WBK60161331926819'] },
  BIC: { right: ['NWBKGB2L', 'NWBKGB2LXXX'], wrong: ['NWBKGB2', 'NWBKGB2LXX', '1WBKGB2L'] },
  PAN: {
    right: ['4111111111111111', '378282246310005', '6304000000000000'],
    wrong: ['4111111111111112', '4111 1111 1111 1111', '411111', 'card'],
  },
  MASKED_PAN: { right: ['411111******1111', '************1111'], wrong: ['4111111111111111', '411111', 'masked'] },
  MSISDN: { right: ['447911123456', '+447911123456'], wrong: ['07911', '0044791112345678901', 'phone', '+44 7911'] },
  BSB: { right: ['062000', '062-000'], wrong: ['06200', '0620000', '06-2000', '06200A'] },
  NCC: { right: ['204514', 'CPA-0001'], wrong: [] },
  ABA: { right: ['021000021', '011401533'], wrong: ['021000022', '02100002', '0210000210'] },
  ABA_WIRE: { right: ['026009593'], wrong: ['026009594', '26009593'] },
  ABA_ACH: { right: ['122105155'], wrong: ['122105156', '12210515A'] },
  EMAIL: {
    right: ['ana@example.com', 'ana.petrovic+pay@mail.example.co.uk'],
    wrong: ['ana.example.com', 'ana@', '@x.y'],
  },
  ROLL_NUMBER: { right: ['A/1234567-8', '1'], wrong: [] },
  BLZ: { right: ['37040044', '10000000'], wrong: ['3704004', '370400440', '3704004A'] },
  IFS: { right: ['SBIN0000300', 'HDFC0000001'], wrong: ['SBIN1000300', 'SBIN000030', 'SB1N0000300'] },
  CLABE: { right: ['032180000118359719', '002010077777777771'], wrong: ['032180000118359718', '03218000011835971'] },
  CTN: { right: ['42', 'CTN-0042'], wrong: [] },
  BRANCH_CODE: { right: ['001', '250655'], wrong: [] },
  VIRTUAL_ACCOUNT_ID: { right: ['VA-000123', '7b9f'], wrong: [] },
};

const identificationCases: Case[] = Object.entries(IDENTIFICATIONS).flatMap(([type, { right, wrong }]) => {
  const fields = (value: string): Fields => ({ [typeAt(0)]: type, [identificationAt(0)]: value });
  return [
    ...right.map((value) => ({ words: `${type} ${value}`, fields: fields(value) })),
    ...wrong.map((value) => ({
      words: `no ${type}: ${value}`,
      fields: fields(value),
      problems: { [identificationAt(0)]: INVALID },
    })),
  ];
});

const NO_NUMBERS: Bad = each(['free', '4,99', '4.99 EUR', '1e3', '0x10', '4.9.9', '.', '--1', 'NaN'], INVALID);
const NUMBERS = ['0', '0.01', '4.99', '1000', '123456.78'];

const NO_URLS: Bad = each(['shop.example/mug', '/mug', 'javascript:alert(1)', 'ftp://shop.example/mug'], NOT_URL);
const URLS = ['https://shop.example', 'http://shop.example/mug?colour=red#top', 'https://shop.example:8443/č'];

/** The country’s code decides, in any letter case; a missing one is asked for too. */
const askedIn = (country: string, elsewhere: string, fields: readonly string[]): Case[] => {
  const nothing = all(fields, '');
  return [
    { words: 'nothing sent, the stated country', fields: nothing, asks: fields },
    {
      words: 'nothing sent, the stated country in small letters',
      fields: { ...nothing, payer_country: country.toLowerCase() },
      asks: fields,
    },
    { words: 'nothing sent, no country', fields: { ...nothing, payer_country: '' }, asks: fields },
    { words: 'nothing sent, another country', fields: { ...nothing, payer_country: elsewhere } },
    { words: 'everything sent, another country', fields: { payer_country: elsewhere } },
    { words: 'everything sent, no country', fields: { payer_country: '' } },
  ];
};

const aggBank = (country: string, orgCode: string, accountName: string, accountNumber: string): BrandExpectation => {
  const fields = [p('orgCode'), p('accountName'), p('accountNumber')];
  return {
    complete: {
      payer_country: country,
      [p('orgCode')]: orgCode,
      [p('accountName')]: accountName,
      [p('accountNumber')]: accountNumber,
    },
    asked: fields,
    good: {
      [p('orgCode')]: ['1', 'TCZBTR2A'],
      [p('accountName')]: ['A', letters(64)],
      [p('accountNumber')]: ['1', 'TR330006100519786457841326'],
    },
    bad: { [p('accountName')]: [[letters(65), tooLong(64)]] },
    cases: [
      ...askedIn(country, country === 'TR' ? 'TH' : 'TR', fields),
      {
        words: 'a name that is too long, another country',
        fields: { payer_country: 'DE', [p('accountName')]: letters(65) },
        problems: { [p('accountName')]: tooLong(64) },
      },
    ],
  };
};

const aggId = (country: string, personalId: string): BrandExpectation => ({
  complete: { payer_country: country, [p('personal_id')]: personalId },
  asked: [p('personal_id')],
  good: { [p('personal_id')]: ['1', 'AB-123.456'] },
  cases: askedIn(country, 'DE', [p('personal_id')]),
});

const PERSON: Fields = { payer_first_name: 'Ana', payer_last_name: 'Petrović' };
const ADDRESS = ['payer_address', 'payer_zip', 'payer_city'];
const KLARNA_PAYER = ['payer_country', 'payer_email', 'payer_first_name', 'payer_last_name', ...ADDRESS];
const lineAt = (member: string): string => `order_lines[0][${member}]`;

/**
 * A method that payers know by its name: for one currency and one country, with fields that the simulated provider needs,
 * and those that only others need.
 */
const known = (currency: string, country: string, asked: Fields = {}, others: Fields = {}): BrandExpectation => ({
  complete: { order_currency: currency, payer_country: country, ...asked, ...others },
  required: blank('order_currency'),
  asked: Object.keys({ ...asked, ...others }),
  unneeded: Object.keys(others),
  optional: ['payer_country'],
  bad: {
    order_currency: each(['USD', currency.toLowerCase()], NOT_A_CHOICE),
    payer_country: each(['US', 'XX', 'Netherlands'], NOT_A_CHOICE),
  },
  cases: [
    { words: 'without a country', fields: { payer_country: '' } },
    { words: 'the country in small letters', fields: { payer_country: country.toLowerCase() } },
  ],
});

const DOCUMENT = [p('document_number'), p('document_type')];
const NO_DOCUMENT = all(DOCUMENT, '');

export const BRAND_EXPECTATIONS: Readonly<Record<string, BrandExpectation>> = {
  vcard: {
    complete: { identifier: 'success@example.com' },
    required: blank('identifier'),
    good: { identifier: ['success@gmail.com', 'decline@example.com', 'fail@gmail.com'] },
    bad: { identifier: each(['other@example.com', 'SUCCESS@example.com', 'success@example.com '], NOT_A_CHOICE) },
  },

  'payout-a': {
    complete: {
      payer_first_name: 'Ana',
      payer_last_name: 'Petrović',
      payer_email: 'ana@example.com',
      order_description: 'Winnings of May',
      [QUESTION]: 'Name of your first pet?',
      [ANSWER]: 'Rex the Great',
    },
    settings: { account_uuid: '7d0b6e0a-3f3c-4c55-9b7e-1f7a0c2d9e41' },
    required: {
      ...blank('payer_first_name', 'payer_last_name', 'payer_email', 'order_amount', 'order_currency'),
      ...blank('order_description', QUESTION, ANSWER),
      account_uuid: NOT_SET,
    },
    optional: ['fee_calculation_method'],
    secret: ['SecurityQuestionAnswer'],
    added: { account_uuid: '7d0b6e0a-3f3c-4c55-9b7e-1f7a0c2d9e41', fee_calculation_method: 'account_level' },
    good: {
      payer_first_name: ['A', letters(60)],
      payer_last_name: ['P', letters(60)],
      payer_email: ['a@', `${letters(48)}@example.com`],
      order_description: ['12345', letters(200)],
      [QUESTION]: [letters(10), letters(40)],
      [ANSWER]: ['Rex', letters(40), 'a b'],
    },
    bad: {
      payer_first_name: [[letters(61), tooLong(60)]],
      payer_last_name: [[letters(61), tooLong(60)]],
      payer_email: [
        ['a', tooShort(2)],
        [`${letters(49)}@example.com`, tooLong(60)],
      ],
      order_description: [
        ['1234', tooShort(5)],
        [letters(201), tooLong(200)],
      ],
      [QUESTION]: [
        [letters(9), tooShort(10)],
        [letters(41), tooLong(40)],
      ],
      [ANSWER]: [
        ['Re', tooShort(3)],
        [letters(41), tooLong(40)],
      ],
    },
    cases: [
      {
        words: 'the account’s own settings count, whatever the request says',
        fields: { account_uuid: '00000000-0000-4000-8000-000000000000', fee_calculation_method: 'transaction_level' },
        kept: {
          account_uuid: '7d0b6e0a-3f3c-4c55-9b7e-1f7a0c2d9e41',
          fee_calculation_method: 'account_level',
          SecurityQuestion: 'Name of your first pet?',
        },
      },
    ],
  },

  'wallet-a': {
    complete: { [p('paymentToken')]: JSON.stringify(TOKEN_A) },
    required: blank(p('paymentToken')),
    notStored: ['paymentToken'],
    good: { [p('paymentToken')]: [JSON.stringify({ ...TOKEN_A, more: 'members' }), JSON.stringify(TOKEN_A, null, 2)] },
    bad: {
      [p('paymentToken')]: [
        ...NOT_JSON_AT_ALL,
        ['{}', lacks('paymentData')],
        ...incomplete(TOKEN_A, [
          'paymentData',
          'paymentData.data',
          'paymentData.signature',
          'paymentData.header',
          'paymentData.header.publicKeyHash',
          'paymentData.header.ephemeralPublicKey',
          'paymentData.header.transactionId',
          'paymentData.version',
          'paymentMethod',
          'paymentMethod.displayName',
          'paymentMethod.network',
          'paymentMethod.type',
          'transactionIdentifier',
        ]),
        [JSON.stringify({ ...TOKEN_A, paymentData: 'text' }), lacks('paymentData')],
        [JSON.stringify({ ...TOKEN_A, transactionIdentifier: 7 }), lacks('transactionIdentifier')],
        [JSON.stringify({ ...TOKEN_A, transactionIdentifier: '' }), lacks('transactionIdentifier')],
      ],
    },
  },

  'wallet-b': {
    complete: { [p('paymentToken')]: JSON.stringify(TOKEN_B) },
    required: blank(p('paymentToken')),
    notStored: ['paymentToken'],
    good: {
      [p('paymentToken')]: [
        JSON.stringify({ ...TOKEN_B, more: 'members' }),
        JSON.stringify(tokenB(SIGNED)),
        JSON.stringify(tokenB({ ...SIGNED, signedMessage: SIGNED_MESSAGE })),
      ],
    },
    bad: {
      [p('paymentToken')]: [
        ...NOT_JSON_AT_ALL,
        ['{}', lacks('apiVersionMinor')],
        ...incomplete(TOKEN_B, [
          'apiVersionMinor',
          'apiVersion',
          'paymentMethodData',
          'paymentMethodData.description',
          'paymentMethodData.tokenizationData',
          'paymentMethodData.tokenizationData.type',
          IN_TOKEN_B,
          `${IN_TOKEN_B}.signature`,
          `${IN_TOKEN_B}.intermediateSigningKey`,
          `${IN_TOKEN_B}.intermediateSigningKey.signedKey`,
          `${IN_TOKEN_B}.intermediateSigningKey.signatures`,
          `${IN_TOKEN_B}.protocolVersion`,
          `${IN_TOKEN_B}.signedMessage`,
          `${IN_TOKEN_B}.signedMessage.encryptedMessage`,
          `${IN_TOKEN_B}.signedMessage.ephemeralPublicKey`,
          `${IN_TOKEN_B}.signedMessage.tag`,
          'paymentMethodData.type',
          'paymentMethodData.info',
          'paymentMethodData.info.cardNetwork',
          'paymentMethodData.info.cardDetails',
        ]),
        [JSON.stringify(tokenB('no JSON')), lacks(IN_TOKEN_B)],
        [JSON.stringify({ ...TOKEN_B, apiVersion: 'two' }), lacks('apiVersion')],
      ],
    },
  },

  ips: {
    complete: { order_currency: 'RSD' },
    required: blank('order_currency'),
    good: { order_currency: ['EUR', 'RSD', 'BAM', 'MKD'] },
    bad: { order_currency: each(['USD', 'HUF', 'rsd', 'JPY', 'ARS', 'XXX'], NOT_A_CHOICE) },
  },

  'pin-a': {
    complete: { [p('pin')]: '6337180011223344' },
    required: blank(p('pin')),
    secret: ['pin'],
    good: { [p('pin')]: ['0000000000000000', '9999999999999999'] },
    bad: {
      [p('pin')]: [
        ['633718001122334', tooShort(16)],
        ['63371800112233445', tooLong(16)],
        ['633718001122334A', INVALID],
        ['6337 1800 1122 3', INVALID],
        ['٦337180011223344', INVALID],
      ],
    },
  },

  'telecom-a': {
    complete: { [p('productReceiver')]: '+381641234567' },
    optional: [p('productReceiver')],
    good: { [p('productReceiver')]: ['0641234567', 'contract 12-34/5'] },
  },

  'bank-a': {
    complete: {
      payer_first_name: 'Ana',
      payer_last_name: 'Petrović',
      [p('bank_code')]: 'DEUTDEFF',
      [p('bank_account_number')]: '0532013000',
    },
    required: blank('payer_first_name', 'payer_last_name', p('bank_code'), p('bank_account_number')),
    good: {
      [p('bank_code')]: ['DEUTDEFF500', 'NEDSZAJJXXX', 'CHASUS33'],
      [p('bank_account_number')]: ['1', 'DE89370400440532013000'],
    },
    bad: { [p('bank_code')]: each(['DEUTDEF', 'DEUTDEFF5', 'DEUTDEFF5000', '1EUTDEFF', 'DEUT DEFF'], INVALID) },
  },

  'transfer-a': {
    complete: { order_currency: 'ARS', bank_cuil: '20123456786' },
    required: blank('order_currency'),
    asked: ['bank_cuil'],
    good: { order_currency: ['ARS'], bank_cuil: ['20-12345678-6', '27123456780', '30500010912'] },
    bad: {
      order_currency: each(['USD', 'MXN', 'ars'], NOT_A_CHOICE),
      bank_cuil: each(['20123456785', '2012345678', '201234567860', '2012345678A', 'nobody'], INVALID),
    },
    cases: [
      {
        words: 'the field has no brackets',
        fields: { bank_cuil: '', [p('bank_cuil')]: '20123456786' },
        asks: ['bank_cuil'],
        kept: {},
      },
    ],
  },

  'transfer-b': {
    complete: { order_currency: 'MXN', bank_curp: 'HEGG560427MVZRRL04' },
    required: blank('order_currency'),
    asked: ['bank_curp'],
    good: { order_currency: ['MXN'], bank_curp: ['BOXW310820HNERXN09'] },
    bad: {
      order_currency: each(['USD', 'ARS', 'mxn'], NOT_A_CHOICE),
      bank_curp: each(['HEGG560427MVZRRL05', 'HEGG560427MVZRRL0', 'HEGG561327MVZRRL04', 'nobody'], INVALID),
    },
    cases: [
      {
        words: 'the field has no brackets',
        fields: { bank_curp: '', [p('bank_curp')]: 'HEGG560427MVZRRL04' },
        asks: ['bank_curp'],
        kept: {},
      },
    ],
  },

  'doc-a': document('30123456'),
  'doc-b': document('V-12345678'),

  'local-a': {
    complete: { payer_country: 'BR', [p('personalId')]: '11144477735' },
    optional: [p('personalId')],
    cases: [
      { words: 'BR without one', fields: { [p('personalId')]: '' }, problems: blank(p('personalId')) },
      {
        words: 'CL without one',
        fields: { payer_country: 'CL', [p('personalId')]: '' },
        problems: blank(p('personalId')),
      },
      {
        words: 'CO without one',
        fields: { payer_country: 'CO', [p('personalId')]: '' },
        problems: blank(p('personalId')),
      },
      {
        words: 'br without one',
        fields: { payer_country: 'br', [p('personalId')]: '' },
        problems: blank(p('personalId')),
      },
      { words: 'no country, without one', fields: { payer_country: '', [p('personalId')]: '' } },
      { words: 'PE without one', fields: { payer_country: 'PE', [p('personalId')]: '' } },
      { words: 'US without one', fields: { payer_country: 'US', [p('personalId')]: '' } },
      { words: 'another CPF', fields: { [p('personalId')]: '52998224725' } },
      { words: 'a CNPJ of 14 digits', fields: { [p('personalId')]: '11222333000181' } },
      { words: '10 digits', fields: { [p('personalId')]: '1234567890' } },
      ...['11144477736', '11144477745', '11111111111', '111.444.777-35', '1114447773A', 'ABC', '111444 77735'].map(
        (value) => ({
          words: `${value} is none in BR`,
          fields: { [p('personalId')]: value },
          problems: { [p('personalId')]: INVALID },
        }),
      ),
      {
        words: 'letters, br in small letters',
        fields: { payer_country: 'br', [p('personalId')]: 'ABC' },
        problems: { [p('personalId')]: INVALID },
      },
      { words: 'letters in CL', fields: { payer_country: 'CL', [p('personalId')]: '12.345.678-K' } },
      { words: 'letters in CO', fields: { payer_country: 'CO', [p('personalId')]: 'CC1032456789' } },
      {
        words: 'eleven digits that are no CPF in CO',
        fields: { payer_country: 'CO', [p('personalId')]: '11144477736' },
      },
      { words: 'letters elsewhere', fields: { payer_country: 'PE', [p('personalId')]: 'AB-1' } },
      { words: 'letters from nowhere', fields: { payer_country: '', [p('personalId')]: 'AB-1' } },
    ],
  },

  'crypto-a': {
    complete: { [p('payment_currency')]: 'BTC' },
    required: blank(p('payment_currency')),
    good: { [p('payment_currency')]: COINS },
    bad: { [p('payment_currency')]: NO_COINS },
  },

  'crypto-a-payout': {
    complete: {
      [p('address')]: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
      [p('currency')]: 'BTC',
      [p('network')]: 'BTC',
    },
    required: blank(p('address'), p('currency'), p('network')),
    bad: {
      [p('address')]: each(['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfN', 'x'], INVALID),
      [p('currency')]: NO_COINS,
      [p('network')]: each(['btc', 'SOL', 'TRON', 'ERC20', 'BTC ', '__proto__'], NOT_A_CHOICE),
    },
    cases: payoutCases,
  },

  'crypto-b': {
    complete: { [p('cryptoCurrency')]: 'BTC' },
    required: blank(p('cryptoCurrency')),
    good: { [p('cryptoCurrency')]: ['ETH', 'USDT', 'LTC', 'DOGE'] },
  },

  'trading-a': {
    complete: {
      [p('paymentGatewayName')]: 'Cards Europe',
      [p('paymentCurrency')]: 'EUR',
      [p('tradingAccountLogin')]: '1002003',
    },
    required: blank(p('paymentGatewayName'), p('paymentCurrency')),
    optional: [p('tradingAccountLogin')],
    good: {
      [p('paymentGatewayName')]: ['x', 'gate-way_2'],
      [p('paymentCurrency')]: ['USD', 'BTC', 'USDT'],
      [p('tradingAccountLogin')]: ['1', 'ana@example.com'],
    },
  },

  'trading-b': {
    complete: {
      withdrawCurrency: 'BTC',
      address: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
      tradingAccountLogin: '1002003',
    },
    required: blank('withdrawCurrency', 'address'),
    optional: ['tradingAccountLogin'],
    good: {
      withdrawCurrency: ['ETH', 'USDT', 'LTC'],
      address: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    },
    cases: [
      {
        words: 'the other spelling alone',
        fields: { withdrawCurrency: '', withdrawalCurrency: 'BTC' },
        kept: {
          withdrawCurrency: 'BTC',
          address: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
          tradingAccountLogin: '1002003',
        },
      },
      {
        words: 'both spellings of the same',
        fields: { withdrawalCurrency: 'BTC' },
        kept: {
          withdrawCurrency: 'BTC',
          address: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
          tradingAccountLogin: '1002003',
        },
      },
      {
        words: 'the two spellings of two things',
        fields: { withdrawalCurrency: 'ETH' },
        problems: { withdrawCurrency: DIFFERENT },
      },
      {
        words: 'the two spellings in two cases',
        fields: { withdrawalCurrency: 'btc' },
        problems: { withdrawCurrency: DIFFERENT },
      },
      {
        words: 'the fields have no brackets',
        fields: {
          withdrawCurrency: '',
          address: '',
          [p('withdrawCurrency')]: 'BTC',
          [p('address')]: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
        },
        problems: blank('withdrawCurrency', 'address'),
      },
    ],
  },

  'hosted-a': {
    complete: {
      [p('product_reference_id')]: 'MUG-1/red',
      [p('product_name')]: 'A red mug',
      [p('product_quantity')]: '2',
      [p('product_sku')]: 'MUG1',
      [p('product_category')]: 'Kitchen',
      [p('product_url')]: 'https://shop.example/mug',
      [p('product_image_url')]: 'https://shop.example/mug.png',
      [p('product_type')]: 'physical',
    },
    asked: [
      p('product_reference_id'),
      p('product_name'),
      p('product_quantity'),
      p('product_sku'),
      p('product_category'),
      p('product_url'),
      p('product_image_url'),
      p('product_type'),
    ],
    subMethods: {
      S1: [p('product_reference_id'), p('product_quantity'), p('product_sku'), p('product_category')],
      S2: [
        p('product_reference_id'),
        p('product_name'),
        p('product_quantity'),
        p('product_sku'),
        p('product_category'),
        p('product_url'),
      ],
      S3: [
        p('product_reference_id'),
        p('product_name'),
        p('product_quantity'),
        p('product_sku'),
        p('product_category'),
        p('product_url'),
        p('product_image_url'),
        p('product_type'),
      ],
      S4: [p('product_name'), p('product_quantity')],
    },
    good: {
      [p('product_reference_id')]: ['1', '#!@$%&*()_+-=/.,:;', letters(64)],
      [p('product_name')]: ['x', letters(255)],
      [p('product_quantity')]: ['1', '10', '9999'],
      [p('product_sku')]: ['x', letters(300)],
      [p('product_category')]: ['x', 'Home & Garden > Mugs'],
      [p('product_url')]: URLS,
      [p('product_image_url')]: URLS,
      [p('product_type')]: ['x', 'digital'],
    },
    bad: {
      [p('product_reference_id')]: [[letters(65), tooLong(64)]],
      [p('product_name')]: [[letters(256), tooLong(255)]],
      [p('product_quantity')]: [['10000', tooLong(4)], ...each(['two', '-1', '1.5', '1e3', '2 '], INVALID)],
      [p('product_url')]: NO_URLS,
      [p('product_image_url')]: NO_URLS,
    },
  },

  'hosted-b': {
    complete: { [p('toCurrency')]: 'EUR' },
    required: blank(p('toCurrency')),
    good: { [p('toCurrency')]: ['USD', 'JPY', 'KWD'] },
    bad: { [p('toCurrency')]: each(['eur', 'EURO', 'EU', '978', 'XXX', 'HRK', '__proto__'], NOT_A_CHOICE) },
  },

  'local-b': {
    complete: { payer_country: 'PE', [p('document_number')]: '45678912', [p('document_type')]: 'DNI' },
    asked: DOCUMENT,
    good: { [p('document_number')]: ['1', 'AB-1234'], [p('document_type')]: ['x', 'PASSPORT'] },
    cases: [
      { words: 'nothing sent, GT', fields: { ...NO_DOCUMENT, payer_country: 'GT' } },
      { words: 'nothing sent, PA', fields: { ...NO_DOCUMENT, payer_country: 'PA' } },
      { words: 'nothing sent, CR', fields: { ...NO_DOCUMENT, payer_country: 'CR' } },
      { words: 'nothing sent, cr', fields: { ...NO_DOCUMENT, payer_country: 'cr' } },
      { words: 'nothing sent, no country', fields: { ...NO_DOCUMENT, payer_country: '' }, asks: DOCUMENT },
      { words: 'nothing sent, MX', fields: { ...NO_DOCUMENT, payer_country: 'MX' }, asks: DOCUMENT },
      {
        words: 'the number alone, no country',
        fields: { payer_country: '', [p('document_type')]: '' },
        asks: [p('document_type')],
      },
      { words: 'everything sent, GT', fields: { payer_country: 'GT' } },
    ],
  },

  'upi-a': {
    complete: { payer_country: 'IN', [p('personal_id')]: 'ravi.kumar@okhdfcbank' },
    asked: [p('personal_id')],
    good: { [p('personal_id')]: UPI.good },
    bad: { [p('personal_id')]: UPI.bad },
    cases: [
      {
        words: 'nothing sent, no country',
        fields: { payer_country: '', [p('personal_id')]: '' },
        asks: [p('personal_id')],
      },
    ],
  },

  'upi-b': {
    complete: { [p('upi_id')]: 'ravi.kumar@okhdfcbank' },
    required: blank(p('upi_id')),
    good: { [p('upi_id')]: UPI.good },
    bad: { [p('upi_id')]: UPI.bad },
  },

  'upi-c': {
    complete: { [p('upiAddress')]: 'ravi.kumar@okhdfcbank' },
    required: blank(p('upiAddress')),
    good: { [p('upiAddress')]: UPI.good },
    bad: { [p('upiAddress')]: UPI.bad },
  },

  'p2p-a': {
    complete: { [QUESTION]: 'Pet?', [ANSWER]: 'Rex-the-Great' },
    required: blank(ANSWER),
    optional: [QUESTION],
    secret: ['SecurityQuestionAnswer'],
    good: { ...SHORT_ANSWERS.good, [QUESTION]: ['?', letters(100)] },
    bad: SHORT_ANSWERS.bad,
  },

  'p2p-b': {
    complete: { [QUESTION]: 'Pet?', [ANSWER]: 'Rex-the-Great' },
    optional: [QUESTION, ANSWER],
    secret: ['SecurityQuestionAnswer'],
    good: { ...SHORT_ANSWERS.good, [QUESTION]: ['?', letters(100)] },
    bad: SHORT_ANSWERS.bad,
    cases: [{ words: 'neither of the two', fields: { [QUESTION]: '', [ANSWER]: '' } }],
  },

  'bnpl-a': {
    complete: {
      [p('category')]: 'Home > Kitchen > Mugs',
      [p('buyer_registered_since')]: '2024-05-31T12:00:00Z',
      [p('buyer_loyalty_level')]: '7',
    },
    required: blank(p('category'), p('buyer_registered_since')),
    optional: [p('buyer_loyalty_level')],
    good: {
      [p('category')]: ['17', 'Mugs'],
      [p('buyer_registered_since')]: ['2024-02-29T23:59:59.999Z', '2024-05-31T12:00:00+00:00'],
      [p('buyer_loyalty_level')]: ['0', '1', '1000000'],
    },
    bad: {
      [p('buyer_registered_since')]: each(
        [
          '2024-05-31',
          '2024-05-31T12:00:00+02:00',
          '2023-02-29T12:00:00Z',
          '2024-05-31T24:30:00Z',
          '31.5.2024',
          '1717156800',
        ],
        INVALID,
      ),
      [p('buyer_loyalty_level')]: each(['-1', '1.5', 'many', '+1', '1e3'], INVALID),
    },
    cases: [
      {
        words: 'a buyer of unknown loyalty has none',
        fields: { [p('buyer_loyalty_level')]: '' },
        kept: {
          category: 'Home > Kitchen > Mugs',
          buyer_registered_since: '2024-05-31T12:00:00Z',
          buyer_loyalty_level: '0',
        },
      },
    ],
  },

  'bnpl-b': {
    complete: {
      [p('shipping_amount')]: '4.99',
      [p('tax_amount')]: '1.60',
      [p('product_reference_id')]: 'item-1',
      [p('product_type')]: 'physical',
      [p('product_sku')]: 'MUG1',
      [p('product_amount')]: '10.00',
    },
    required: blank(
      p('shipping_amount'),
      p('tax_amount'),
      p('product_reference_id'),
      p('product_type'),
      p('product_sku'),
      p('product_amount'),
    ),
    good: {
      [p('shipping_amount')]: NUMBERS,
      [p('tax_amount')]: NUMBERS,
      [p('product_amount')]: NUMBERS,
      [p('product_reference_id')]: ['1', letters(100)],
      [p('product_type')]: ['x', 'digital'],
      [p('product_sku')]: ['x', 'A-1/2'],
    },
    bad: { [p('shipping_amount')]: NO_NUMBERS, [p('tax_amount')]: NO_NUMBERS, [p('product_amount')]: NO_NUMBERS },
  },

  'open-banking-a': {
    complete: {
      [p('payee_name')]: 'Ana Petrović',
      [p('payee_country')]: 'GB',
      [typeAt(0)]: 'IBAN',
      [identificationAt(0)]: 'GB29NWBK60161331926819',
    },
    required: blank(p('payee_name'), p('payee_country'), LIST, typeAt(0), identificationAt(0)),
    secret: ['payee_identifications'],
    good: { [p('payee_name')]: ['A', letters(100)], [p('payee_country')]: ['DE', 'RS', 'US'] },
    bad: {
      [typeAt(0)]: each(['iban', 'SWIFT', 'IBAN ', 'ABA-WIRE', '__proto__', 'constructor'], NOT_A_CHOICE),
      [identificationAt(0)]: each(['GB29NWBK60161331926818', 'x'], INVALID),
    },
    cases: [
      ...identificationCases,
      {
        words: 'an account in two parts',
        fields: {
          [typeAt(0)]: 'SORT_CODE',
          [identificationAt(0)]: '20-00-00',
          [typeAt(1)]: 'ACCOUNT_NUMBER',
          [identificationAt(1)]: '31926819',
        },
      },
      {
        words: 'the second one without a value',
        fields: { [typeAt(1)]: 'BIC' },
        problems: blank(identificationAt(1)),
      },
      {
        words: 'the second one without a type',
        fields: { [identificationAt(1)]: 'NWBKGB2L' },
        problems: blank(typeAt(1)),
      },
      {
        words: 'the second one malformed',
        fields: { [typeAt(1)]: 'BIC', [identificationAt(1)]: 'NWBKGB2' },
        problems: { [identificationAt(1)]: INVALID },
      },
      {
        words: 'a text instead of a list',
        fields: { [typeAt(0)]: '', [identificationAt(0)]: '', [LIST]: 'GB29NWBK60161331926819' },
        problems: { [LIST]: NOT_A_LIST },
      },
      {
        words: 'JSON instead of a list',
        fields: {
          [typeAt(0)]: '',
          [identificationAt(0)]: '',
          [LIST]: '[{"type":"IBAN","identification":"GB29NWBK60161331926819"}]',
        },
        problems: { [LIST]: NOT_A_LIST },
      },
      {
        words: 'an object instead of a list',
        fields: {
          [typeAt(0)]: '',
          [identificationAt(0)]: '',
          [`${LIST}[type]`]: 'IBAN',
          [`${LIST}[identification]`]: 'GB29NWBK60161331926819',
        },
        problems: { [LIST]: NOT_A_LIST },
      },
      {
        words: 'an account number of another country is judged by the country of the payee',
        fields: { [p('payee_country')]: 'NL', [typeAt(0)]: 'BBAN', [identificationAt(0)]: 'ABNA0417164300' },
      },
      {
        words: 'an account number that the country of the payee does not have',
        fields: { [p('payee_country')]: 'NL', [typeAt(0)]: 'BBAN', [identificationAt(0)]: 'NWBK60161331926819' },
        problems: { [identificationAt(0)]: INVALID },
      },
    ],
  },

  'mobile-money-a': {
    complete: {
      [p('AccountProviderCode')]: 'MTN_UGANDA',
      [p('NarrativeFileName')]: 'invoice.pdf',
      [p('NarrativeFileBase64')]: 'JVBERi0xLjcK',
      [p('ProviderReferenceText')]: 'Thank you, Ana',
    },
    optional: [p('AccountProviderCode'), p('NarrativeFileName'), p('NarrativeFileBase64'), p('ProviderReferenceText')],
    good: {
      [p('AccountProviderCode')]: ['x'],
      [p('NarrativeFileName')]: ['x', 'račun 7.pdf'],
      [p('NarrativeFileBase64')]: ['QQ==', 'QUI=', 'QUJD', '+/+/'],
      [p('ProviderReferenceText')]: ['x'],
    },
    bad: {
      [p('NarrativeFileBase64')]: each(['JVBERi0xLjc*', 'Q', 'QQ=', 'QUJ-', 'a file', 'data:;base64,QUJD'], INVALID),
    },
    cases: [
      {
        words: 'a name without a file is ignored',
        fields: { [p('NarrativeFileBase64')]: '' },
        kept: { AccountProviderCode: 'MTN_UGANDA', ProviderReferenceText: 'Thank you, Ana' },
      },
      {
        words: 'a file without a name is ignored',
        fields: { [p('NarrativeFileName')]: '' },
        kept: { AccountProviderCode: 'MTN_UGANDA', ProviderReferenceText: 'Thank you, Ana' },
      },
      {
        words: 'a malformed file without a name is ignored as well',
        fields: { [p('NarrativeFileName')]: '', [p('NarrativeFileBase64')]: 'no base64 at all' },
        kept: { AccountProviderCode: 'MTN_UGANDA', ProviderReferenceText: 'Thank you, Ana' },
      },
      {
        words: 'none of the four',
        fields: all(
          [p('AccountProviderCode'), p('NarrativeFileName'), p('NarrativeFileBase64'), p('ProviderReferenceText')],
          '',
        ),
        kept: {},
      },
    ],
  },

  'agg-a': aggBank('TR', '0010', 'Ayşe Yılmaz', 'TR330006100519786457841326'),
  'agg-b': aggBank('TR', '0062', 'Mehmet Demir', '6299876543'),
  'agg-c': aggBank('TH', 'KBANK', 'Somchai Jaidee', '0123456789'),
  'agg-d': aggBank('TH', 'SCB', 'สมชาย ใจดี', '4012345678'),
  'agg-e': aggId('VN', '001085012345'),
  'agg-f': aggId('VN', '079190001234'),
  'agg-g': aggId('VN', 'B1234567'),
  'agg-h': aggId('CO', '1032456789'),
  'agg-i': aggId('IN', 'ABCDE1234F'),
  'agg-j': aggId('TR', '10000000146'),

  ideal: known('EUR', 'NL'),
  bancontact: known('EUR', 'BE', {}, PERSON),
  eps: known('EUR', 'AT', {}, PERSON),
  przelewy24: {
    ...known('PLN', 'PL', {}, { payer_email: 'ana@example.com' }),
    good: { order_currency: ['EUR'], payer_email: ['ana.petrovic+pay@mail.example.co.uk'] },
  },
  blik: {
    ...known('PLN', 'PL', { [p('code')]: '777123' }),
    secret: ['code'],
    good: { [p('code')]: ['000000', '999999'] },
    bad: {
      ...known('PLN', 'PL').bad,
      [p('code')]: [
        ['77712', tooShort(6)],
        ['7771234', tooLong(6)],
        ['77712a', INVALID],
        ['777 12', INVALID],
      ],
    },
  },
  twint: { ...known('CHF', 'CH'), good: { payer_country: ['LI', 'ch'] } },
  swish: known('SEK', 'SE'),
  mobilepay: { ...known('DKK', 'DK'), good: { order_currency: ['EUR', 'NOK', 'SEK'], payer_country: ['FI'] } },
  mbway: {
    ...known('EUR', 'PT', { payer_phone: '+351912345678' }, { payer_email: 'ana@example.com' }),
    good: { payer_phone: ['+351 912 345 678', '+351 912-345-678', '+34612345678'] },
    bad: {
      ...known('EUR', 'PT').bad,
      payer_phone: each(['912345678', '00351912345678', '+0351912345678', '+351', 'phone'], INVALID),
      payer_email: each(['ana', 'ana@', '@example.com', 'ana@example'], INVALID),
    },
  },
  paypal: {
    complete: { order_currency: 'EUR' },
    required: blank('order_currency'),
    good: { order_currency: ['USD', 'GBP', 'CHF', 'PLN'], payer_country: ['NL', 'JP'] },
    bad: { order_currency: each(['RSD', 'eur'], NOT_A_CHOICE) },
  },
  klarna: {
    complete: {
      ...PERSON,
      ...{ order_currency: 'EUR', payer_country: 'DE', payer_email: 'ana@example.com' },
      ...{ payer_address: 'Hauptstraße 7', payer_zip: '10115', payer_city: 'Berlin' },
      ...{ [lineAt('name')]: 'Teapot', [lineAt('quantity')]: '2', [lineAt('unit_amount')]: '4.00' },
      ...{ [lineAt('amount')]: '8.00', order_shipping: '2.00', order_tax: '1.00', order_discount: '1.00' },
    },
    required: blank('order_currency', 'order_lines', lineAt('name')),
    asked: KLARNA_PAYER,
    unneeded: KLARNA_PAYER,
    optional: ['order_shipping', 'order_tax', 'order_discount'],
    good: { order_currency: ['USD', 'SEK'], payer_country: ['se', 'US'], [lineAt('name')]: [letters(100)] },
    bad: {
      order_currency: each(['RSD', 'JPY'], NOT_A_CHOICE),
      payer_country: each(['RS', 'BR'], NOT_A_CHOICE),
      [lineAt('quantity')]: each(['0', '1.5', 'two'], INVALID),
      [lineAt('amount')]: each(['8', 'free'], INVALID),
      order_shipping: each(['-1.00', '2'], INVALID),
    },
  },
  'sepa-debit': {
    ...known('EUR', 'DE', { [p('iban')]: 'DE89370400440532013000', ...PERSON }, { payer_email: 'ana@example.com' }),
    secret: ['iban'],
    good: { [p('iban')]: ['DE89 3704 0044 0532 0130 00', 'nl91abna0417164300', 'FR1420041010050500013M02606'] },
    bad: {
      ...known('EUR', 'DE').bad,
      [p('iban')]: each(['DE89370400440532013001', '532013000', 'DEUTDEFF'], INVALID),
    },
  },
};
