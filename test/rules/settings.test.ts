/** Every account setting with valid and invalid values, and how settings are read, completed and returned. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { callbackReach } from '../../src/rules/callback-address.ts';
import {
  completeSettings,
  nestSettings,
  readSettings,
  SETTING_NAMES,
  type SettingName,
} from '../../src/rules/settings.ts';
import { selfSigned } from '../support/certificate.ts';
import { DEFAULT_SETTINGS, SANDBOX_SETTINGS } from '../support/expected.ts';

const FLAG: [unknown[], unknown[]] = [
  [true, false],
  ['true', 'Y', 1, 0, null, '', []],
];
const URL_VALUES: [unknown[], unknown[]] = [
  ['', 'https://shop.example/callback', 'http://localhost:3000/'],
  [
    'shop.example',
    'ftp://shop.example',
    'https://user:pass@shop.example',
    'https://user@shop.example',
    1,
    null,
    ['https://a.example'],
    `https://shop.example/${'x'.repeat(2048)}`,
  ],
];
const CALLBACK_URL_VALUES: [unknown[], unknown[]] = [
  ['', 'https://shop.example/callback?x=1', 'https://8.8.8.8:8443/', `https://shop.example/${'x'.repeat(2027)}`],
  [
    ...URL_VALUES[1],
    'http://shop.example/',
    'https://shop.example/#x',
    'https://localhost/',
    'https://127.1/',
    'https://[::1]/',
    `https://shop.example/${'x'.repeat(2028)}`,
    'https://shop.example/\0',
  ],
];
const LINK_VALUES: [unknown[], unknown[]] = [
  ['', 'https://shop.example/terms?a=1#b', 'mailto:help@shop.example', 'mailto:help@shop.example?subject=Order'],
  [
    ...URL_VALUES[1],
    'http://shop.example/',
    'http://localhost:3000/',
    'javascript:alert(1)',
    'data:text/html,x',
    'mailto:',
    'mailto:help',
    'mailto:a@shop.example,b@shop.example',
    'mailto:a@shop.example%0d%0aBcc:b@shop.example',
    'mailto:%zz@shop.example',
    'https://shop.example/a b',
    'https://shop.example/\n',
  ],
];
const TEXTS: [unknown[], unknown[]] = [
  [[], ['a@example.com'], ['a', 'b', 'č']],
  ['a', [''], [1], [null], [['a']], { 0: 'a' }, null, ['x'.repeat(256)], Array(201).fill('a'), ['a\0'], ['\ud800']],
];

const COUNT: [unknown[], unknown[]] = [
  [0, 1, 100_000],
  [-1, 100_001, 1.5, '10', Number.NaN, Number.POSITIVE_INFINITY, null, true, [10], ''],
];

const CERTIFICATE = selfSigned(['shop.example']).cert;
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const PKCS8 = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
const SEC1 = privateKey.export({ format: 'pem', type: 'sec1' }) as string;
const RSA = rsa.export({ format: 'pem', type: 'pkcs8' }) as string;
const onOneLine = (pem: string): string => pem.replaceAll('\n', '');
const otherCurve = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({
  format: 'pem',
  type: 'pkcs8',
});
const KEYS = ['', PKCS8, SEC1, onOneLine(PKCS8), onOneLine(SEC1)];
const NO_KEYS = ['x', null, 1, [PKCS8], otherCurve, PKCS8.slice(0, -60), CERTIFICATE, `${PKCS8}${'x'.repeat(20_000)}`];
const CERTIFICATES: [unknown[], unknown[]] = [
  ['', CERTIFICATE, onOneLine(CERTIFICATE)],
  ['x', null, PKCS8, CERTIFICATE.slice(0, 200), [CERTIFICATE]],
];
const shortText = (most: number): [unknown[], unknown[]] => [
  ['', 'Shop', 'x'.repeat(most)],
  ['x'.repeat(most + 1), 1, null, ['Shop']],
];
const listOf = (good: string[]): [unknown[], unknown[]] => [
  [good, good.slice(0, 1)],
  [[], good[0], [1], ['x'], null],
];

const VALUES: Record<SettingName, [good: unknown[], bad: unknown[]]> = {
  refunds_allowed: FLAG,
  refund_approval_from: [
    ['', '0', '500', '500.00', '0.5000'],
    ['much', '-1', '1.00000', '1,5', 500, null, true],
  ],
  telephone_orders: FLAG,
  invoice_reminders: FLAG,
  callback_url: CALLBACK_URL_VALUES,
  callback_format: [
    ['form', 'json'],
    ['xml', 'JSON', '', null, ['form'], true],
  ],
  callback_hash_case: [
    ['ascii', 'unicode'],
    ['UNICODE', 'utf-8', '', null, true],
  ],
  whole_amounts_allowed: FLAG,
  'dialect.card_sales': FLAG,
  'dialect.hash': [
    ['specified', 'reversed_md5'],
    ['reversed', 'MD5', '', null, true],
  ],
  'dialect.digest': [
    ['md5', 'sha256'],
    ['sha1', 'SHA256', '', null, true],
  ],
  'dialect.final_callbacks_only': FLAG,
  'dialect.number_amounts': FLAG,
  'dialect.session_callback_url': FLAG,
  return_schemes: [
    [[], ['myapp'], ['my.app-2', 'com.example.shop']],
    ['myapp', ['https'], ['javascript'], ['myapp://'], ['MyApp'], ['1app'], [''], ['data'], null, {}],
  ],
  ip_allowlist: [
    [[], ['203.0.113.7'], ['10.0.0.0/8', '2001:db8::/32', '::1']],
    ['10.0.0.0/8', ['10.0.0.0/33'], ['localhost'], [''], [10], null, {}, Array(201).fill('10.0.0.1')],
  ],
  three_ds_link_target: [
    ['', '_blank', 'x'.repeat(64)],
    ['x'.repeat(65), 1, null, ['_blank'], 'a\0', '\udc00'],
  ],
  account_uuid: [
    ['', '01990000-0000-7000-8000-0123456789ab'],
    ['1', '01990000', null, 1, ['01990000-0000-7000-8000-0123456789ab']],
  ],
  fee_calculation_method: [
    ['account_level', 'transaction_level'],
    ['', 'Account_level', 'none', null, 1],
  ],
  brands: [
    [[], ['vcard']],
    ['vcard', ['VCARD'], ['nothing'], ['__proto__'], [['vcard']], null, {}],
  ],
  card_networks: [
    [[], ['visa'], ['mastercard', 'troy', 'other']],
    ['visa', ['Visa'], ['nothing'], ['__proto__'], [['visa']], [''], null, {}],
  ],
  brand_aliases: [
    [{}, { 'visa-test': 'vcard', other: 'vcard' }],
    [
      { a: 'nothing' },
      { a: 'toString' },
      { '': 'vcard' },
      { a: ['vcard'] },
      { a: null },
      { a: { toString: 'vcard' } },
      { ['x'.repeat(65)]: 'vcard' },
      [],
      ['vcard'],
      'vcard',
      null,
    ],
  ],
  page_methods: [
    [[], ['card', 'vcard']],
    ['vcard', ['VCARD'], ['nothing'], ['__proto__'], [['vcard']], null, {}],
  ],
  payer_minutes: [
    [{}, { ideal: 15, card: 1, 'bank-a': 720 }, { 'transfer-a': '10' }],
    [
      ...[0, 721, 1.5, '', '0', '1.5', '-1', null, [15]].map((minutes) => ({ ideal: minutes })),
      { nothing: 15 },
      { toString: 15 },
      [],
      15,
      '15',
      null,
    ],
  ],
  method_names: [
    [{}, { 'bank-a': 'iDEAL' }, { 'bank-a': 'x'.repeat(60), 'bank-a.de': 'Überweisung', 'card.pt-BR': 'Cartão' }],
    [
      { nothing: 'x' },
      { 'nothing.de': 'x' },
      { toString: 'x' },
      { 'bank-a.': 'x' },
      { 'bank-a.German': 'x' },
      { 'bank-a de': 'x' },
      { 'bank-a': '' },
      { 'bank-a': ' ' },
      { 'bank-a': 'x'.repeat(61) },
      { 'bank-a': 'Bank \u202eA' },
      { 'bank-a': 1 },
      { 'bank-a': { de: 'x' } },
      ['bank-a'],
      'bank-a',
      null,
    ],
  ],
  chargeback_reversal_callbacks: FLAG,
  settlement_callbacks: FLAG,
  payout_callbacks: FLAG,
  return_parameters: FLAG,
  order_id_reuse: [
    ['after_failure', 'never'],
    ['always', '', true, null],
  ],
  authorisation_days: [
    [1, 7, 365],
    [0, 366, -1, 1.5, '7', Number.NaN, null, true, [7]],
  ],
  requests_per_second: COUNT,
  card_tries_per_session: COUNT,
  card_failures_per_address: COUNT,
  'risk.review_score': COUNT,
  'risk.block_score': COUNT,
  'risk.on_failure': [
    ['continue', 'review'],
    ['block', '', null, true],
  ],
  'risk.fraud_rate_limit': [
    ['', '0.13', '1', '100'],
    ['x', '101', '0.12345', '-1', 1, null],
  ],
  'risk.transaction_risk_limit': [
    [{}, { EUR: '100.00', JPY: '100' }],
    [{ EUR: 100 }, { XXX: '1.00' }, { EUR: '1' }, [], null, ''],
  ],
  volume_limits: [
    [
      [],
      [{ per: 'day', currency: 'EUR', brands: [], amount: '10.00' }],
      [{ per: 'month', currency: 'EUR', brands: ['card', 'vcard'], count: 3 }],
      [{ per: 'payment', currency: 'EUR', brands: [], amount: '10.00' }],
    ],
    [
      {},
      null,
      'none',
      [{ per: 'day', currency: 'EUR', brands: [] }],
      [{ per: 'week', currency: 'EUR', brands: [], amount: '10.00' }],
      [{ per: 'day', currency: 'XXX', brands: [], amount: '10.00' }],
      [{ per: 'day', currency: 'EUR', brands: ['cash'], amount: '10.00' }],
      [{ per: 'payment', currency: 'EUR', brands: [], count: 1 }],
      [{ per: 'day', currency: 'EUR', brands: [], amount: 10 }],
      [{ per: 'day', currency: 'EUR', brands: [], amount: '10.00', other: 1 }],
    ],
  ],
  card_failures_per_account: COUNT,
  descriptor: [
    ['', 'SHOP*EXAMPLE', 'x'.repeat(22)],
    ['x'.repeat(23), 1, null, 'a\0b'],
  ],
  'branding.name': [
    ['', 'Čigra & Sons', 'x'.repeat(100)],
    ['x'.repeat(101), 1, null, 'Tea\r\nBcc: eve@example.com', 'Tea \u202epohs', 'Tea\u200b', '\u2066Tea'],
  ],
  'branding.logo': URL_VALUES,
  'branding.support_email': [
    ['', 'help@shop.example', 'first.last+tag@sub.shop-1.example', 'grüße@müller.example'],
    [
      'help',
      'help@shop',
      '@shop.example',
      'a b@shop.example',
      'Help <help@shop.example>',
      'a@shop.example,b@shop.example',
      'a@shop.example\r\nBcc: b@shop.example',
      `${'x'.repeat(65)}@shop.example`,
      'a@shop..example',
      1,
      null,
      ['help@shop.example'],
    ],
  ],
  'branding.support_phone': [
    ['', '+49 30 1234567', '(030) 123-456', '112'],
    ['+', 'call me', '1', '+49 30 1234567x', 'tel:112', `+${'1'.repeat(33)}`, 112, null],
  ],
  'branding.support_url': LINK_VALUES,
  'branding.terms_url': LINK_VALUES,
  'branding.privacy_url': LINK_VALUES,
  'billing.name': [
    ['', 'Tea House GmbH', 'x'.repeat(100)],
    ['x'.repeat(101), 1, null, []],
  ],
  'billing.address': [
    [[], ['Main St 1', '10115 Berlin'], Array.from({ length: 8 }, () => 'x'.repeat(100))],
    ['Main St 1', [''], [' '], ['x'.repeat(101)], Array.from({ length: 9 }, () => 'x'), [1], null, {}],
  ],
  'billing.tax_number': [
    ['', 'DE123456789'],
    ['x'.repeat(41), 1, null, []],
  ],
  'billing.email': [
    ['', 'books@shop.example'],
    ['books', 'books@shop', 'a@shop.example, b@shop.example', 1, null, []],
  ],
  fee_invoices: [
    ['manual', 'monthly'],
    ['', 'daily', true, null, []],
  ],
  receipts: [
    ['off', 'email'],
    ['', 'on', 'Email', true, null, []],
  ],
  receipt_email_asked: FLAG,
  'branding.colour': [
    ['', '#1a7f5a', '#ABCDEF'],
    ['1a7f5a', '#fff', '#1a7f5g', 'red', '#1a7f5a\n', null, 1],
  ],
  locale: [
    ['', 'en', 'pt-BR', 'sr-Latn-RS', 'fil'],
    ['EN', 'e', 'english', 'en_GB', 'en-', 'en\n', null, 1],
  ],
  frame_ancestors: [
    [
      [],
      ['https://shop.example', 'https://shop.example:8443'],
      ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:3000'],
    ],
    [
      'https://shop.example',
      ['https://shop.example/'],
      ['https://shop.example/pay'],
      ['http://shop.example'],
      ['https://me@shop.example'],
      ['https://*.shop.example; script-src *'],
      ...[['https://*'], ['https://*.shop.example'], ['https://shop.example;sandbox'], ['https://shop.example,x']],
      ["'self'"],
      ['*'],
      ['shop.example'],
      [''],
      [1],
      null,
      {},
    ],
  ],
  'wallets.pretend': FLAG,
  'wallets.wallet-a.merchant_identifier': shortText(255),
  'wallets.wallet-a.country': [
    ['', 'DE'],
    ['de', 'DEU', 1, null],
  ],
  'wallets.wallet-a.shop_name': shortText(64),
  'wallets.wallet-a.certificate': CERTIFICATES,
  'wallets.wallet-a.private_key': [[...KEYS, RSA, onOneLine(RSA)], NO_KEYS],
  'wallets.wallet-a.merchant_capabilities': listOf(['supports3DS', 'supportsCredit', 'supportsDebit']),
  'wallets.wallet-a.supported_networks': listOf(['visa', 'masterCard', 'amex']),
  'wallets.wallet-a.processing_private_key': [KEYS, [...NO_KEYS, RSA]],
  'wallets.wallet-a.processing_certificate': CERTIFICATES,
  'wallets.wallet-b.environment': [
    ['TEST', 'PRODUCTION'],
    ['test', '', null, true],
  ],
  'wallets.wallet-b.allowed_auth_methods': listOf(['PAN_ONLY', 'CRYPTOGRAM_3DS']),
  'wallets.wallet-b.supported_networks': listOf(['AMEX', 'DISCOVER', 'JCB', 'MASTERCARD', 'VISA']),
  'wallets.wallet-b.private_key': [KEYS, [...NO_KEYS, RSA]],
  'wallets.wallet-b.merchant_name': shortText(64),
  'wallets.wallet-b.merchant_id': shortText(64),
  'vcard.success': TEXTS,
  'vcard.decline': TEXTS,
};

test('every setting has examples', () => {
  expect(Object.keys(VALUES).toSorted()).toEqual([...SETTING_NAMES].toSorted());
});

describe.each(Object.entries(VALUES))('%s', (name, [good, bad]) => {
  const titled = (values: unknown[]) => values.map((value) => [JSON.stringify(value)?.slice(0, 60), value] as const);
  test.each(titled(good))('accepts %s', (_, value) => {
    expect(readSettings({ [name]: value })).toEqual({ set: { [name]: value }, problems: [] });
  });
  test.each(titled(bad))('refuses %s', (_, value) => {
    expect(readSettings({ [name]: value })).toEqual({
      set: {},
      problems: [
        {
          field: name,
          sentence: expect.stringMatching(/^This value should be .+\.$/),
          expected: expect.stringMatching(/^[A-Z].+\.$/),
          docs: '/docs/settings',
        },
      ],
    });
  });
});

describe('reading settings', () => {
  test('nested and dotted names are equivalent', () => {
    const expected = { 'branding.name': 'Shop', 'branding.colour': '#1a7f5a', 'vcard.success': ['a@b.example'] };
    const nested = { branding: { name: 'Shop', colour: '#1a7f5a' }, vcard: { success: ['a@b.example'] } };
    expect(readSettings(expected)).toEqual({ set: expected, problems: [] });
    expect(readSettings(nested)).toEqual({ set: expected, problems: [] });
  });

  test.each<[Record<string, unknown>, string]>([
    [{ colour: 'red' }, 'colour'],
    [{ Descriptor: 'x' }, 'Descriptor'],
    [{ 'branding.size': 1 }, 'branding.size'],
    [{ branding: { size: 1 } }, 'branding.size'],
    [{ branding: { name: { first: 'x' } } }, 'branding.name'],
    [{ branding: 'Shop' }, 'branding'],
    [{ branding: ['Shop'] }, 'branding'],
    [{ branding: null }, 'branding'],
    [{ vcard: { maybe: [] } }, 'vcard.maybe'],
    [JSON.parse('{"__proto__": {"name": "x"}}'), '__proto__'],
    [{ constructor: 1 }, 'constructor'],
    [{ '<b>': 1 }, 'body'],
    [{ ['x'.repeat(65)]: 1 }, 'body'],
    [{ '': 1 }, 'body'],
  ])('%j is named as %s', (input, field) => {
    const { set, problems } = readSettings(input);
    expect(set).toEqual({});
    expect(problems.map((problem) => problem.field)).toEqual([field]);
  });

  test('an unknown setting is reported as unknown', () => {
    expect(readSettings({ nobody: 1 }).problems).toEqual([
      { field: 'nobody', sentence: 'This setting does not exist.', docs: '/docs/settings' },
    ]);
    expect(readSettings({ callbackUrl: '' }).problems).toMatchObject([{ hint: 'Did you mean callback_url?' }]);
  });

  test('all invalid settings are reported at once, and the valid ones are read', () => {
    const { set, problems } = readSettings({
      descriptor: 'x',
      locale: 7,
      nobody: 1,
      branding: { colour: 'red', name: 'y' },
    });
    expect(set).toEqual({ descriptor: 'x', 'branding.name': 'y' });
    expect(problems.map(({ field }) => field)).toEqual(['locale', 'nobody', 'branding.colour']);
  });

  test('an invalid value is not repeated in the message', () => {
    expect(JSON.stringify(readSettings({ callback_url: 'https://user:hunter2@shop.example' }))).not.toContain(
      'hunter2',
    );
  });

  test('the sandbox accepts loopback and http for callbacks', () => {
    const set = { callback_url: 'http://localhost:3000/' };
    expect(readSettings(set, callbackReach(true, []))).toEqual({ set, problems: [] });
    expect(readSettings({ callback_url: 'http://10.0.0.1/' }, callbackReach(true, [])).problems).toEqual([
      {
        field: 'callback_url',
        sentence: 'This value should be a public address, callbacks do not go to private ones.',
        expected: expect.stringMatching(/^A public https address .+; or empty\.$/),
        docs: '/docs/settings',
      },
    ]);
  });

  test('an empty object sets nothing', () => {
    expect(readSettings({})).toEqual({ set: {}, problems: [] });
    expect(readSettings({ branding: {} })).toEqual({ set: {}, problems: [] });
  });
});

describe('the settings of an account', () => {
  test('have these defaults, with dotted names as objects', () => {
    expect(nestSettings(completeSettings({}))).toEqual(DEFAULT_SETTINGS);
  });

  test('do not limit card attempts in the sandbox by default', () => {
    expect(nestSettings(completeSettings({}, 'production'))).toEqual(DEFAULT_SETTINGS);
    expect(nestSettings(completeSettings({}, 'sandbox'))).toEqual(SANDBOX_SETTINGS);
    expect(completeSettings({ card_tries_per_session: 3 }, 'sandbox').card_tries_per_session).toBe(3);
  });

  test('are the settings that were set, with defaults for the rest', () => {
    const set = { locale: 'sr', 'branding.name': 'Shop', refunds_allowed: false };
    expect(nestSettings(completeSettings(set))).toEqual({
      ...DEFAULT_SETTINGS,
      locale: 'sr',
      refunds_allowed: false,
      branding: { ...DEFAULT_SETTINGS.branding, name: 'Shop' },
    });
  });

  test('can be read back as they are returned', () => {
    const nested = nestSettings(completeSettings({ descriptor: 'x' }));
    const { set, problems } = readSettings(nested);
    expect(problems).toEqual([]);
    expect(nestSettings(completeSettings(set))).toEqual(nested);
  });
});
