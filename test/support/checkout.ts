/** Checkout from all sides: the merchant’s signed JSON, the payer’s page, and the provider’s page behind it. */
import { expect } from 'vitest';
import { entryOf } from './entries.ts';
import { type Answer, type Fields, type Merchant, newOrderId, sign, type TestGateway } from './gateway.ts';
import { operationFields, REFUSALS, type RefusalName } from './operations.ts';

export type Body = Record<string, unknown>;

export const SUCCESS_URL = 'https://shop.example/thanks';
export const CANCEL_URL = 'https://shop.example/basket';

/** The refusals that only Checkout gives, written independently of the product. */
const OWN_REFUSALS = {
  noPayment: [101000, 'Payment does not exist.'],
  noOrder: [101000, 'Order does not exist.'],
  noCardToken: [205005, 'Card token is invalid or not found.'],
  cardTokenExpired: [205006, 'Card token has expired.'],
  cardTokenForeign: [205007, 'Card token is not accessible to this account.'],
} as const;

/** The complete response to a request that is refused for this reason. */
export function refusal(name: RefusalName | keyof typeof OWN_REFUSALS, ...entries: string[]) {
  const [error_code, error_message] = { ...REFUSALS, ...OWN_REFUSALS }[name];
  // A session calls the order id `order.number`; the message of a duplicate is the same in all protocols.
  const errors = entries.map((entry) =>
    entry === 'order_id: Duplicate payment.' ? entryOf(entry, 'order_id', 'order.number') : entryOf(entry),
  );
  return { status: 400, body: { result: 'ERROR', error_code, error_message, errors } };
}

/** The response to a session none of whose methods fits. */
export const NO_METHOD_FITS_MESSAGE =
  'methods: This value should have a method that the account offers for this order.';
export const NO_METHOD_FITS = refusal('invalidData', NO_METHOD_FITS_MESSAGE);

/** The fields that the hash of each request covers, written independently of the product. */
export const SIGNED: Readonly<Record<string, readonly string[]>> = {
  session: ['order.number', 'order.amount', 'order.currency', 'order.description'],
  'payment/status': ['payment_id', 'trans_id', 'order_id'],
  link: ['title', 'amount', 'min_amount', 'currency', 'description'],
  'payment/card/credit': ['order_id', 'order_amount', 'order_currency', 'order_description'],
  'payment/refund': ['payment_id', 'amount'],
  'payment/capture': ['payment_id', 'amount'],
  'payment/void': ['payment_id'],
  'payment/retry': ['payment_id'],
  'payment/recurring': [
    'recurring_init_trans_id',
    'recurring_token',
    'order.number',
    'order.amount',
    'order.description',
  ],
};

const at = (body: unknown, path: string): unknown =>
  path.split('.').reduce((place, name) => (place as Body | null | undefined)?.[name], body);

/** A request with its key and its hash, unless the fields contain their own. */
export function signed(path: string, fields: Body, { merchant_key, password }: Merchant): Body {
  const values = (SIGNED[path] ?? []).map((name) => String(at(fields, name) ?? ''));
  return { merchant_key, hash: sign(password, ...values), ...fields };
}

/** A complete session; the given fields replace the defaults, and `undefined` omits one. */
export function sessionFields(fields: Body = {}): Body {
  const order = { number: newOrderId(), amount: '10.00', currency: 'USD', description: 'A test order' };
  const isPart = typeof fields.order === 'object' && fields.order !== null && !Array.isArray(fields.order);
  return {
    operation: 'purchase',
    success_url: SUCCESS_URL,
    cancel_url: CANCEL_URL,
    ...fields,
    order: isPart ? { ...order, ...(fields.order as Body) } : 'order' in fields ? fields.order : order,
  };
}

/** The sentences of the entries, written independently of the product. */
export const SENTENCES = {
  blank: 'This value should not be blank.',
  invalid: 'This value is not valid.',
  noChoice: 'The value you selected is not a valid choice.',
  noText: 'This value should be a text.',
  notSingle: 'This value should be a single text, not a list or an object.',
  noUrl: 'This value is not a valid URL.',
  tooLittle: 'This value should be greater than 0.',
  tooLong: (most: number) => `This value is too long. It should have ${most} characters or less.`,
} as const;
const { blank, invalid, noChoice, noText, notSingle, noUrl, tooLittle, tooLong } = SENTENCES;

type Row = [what: string, fields: Body, ...entries: string[]];
const rows = <Value>(values: readonly Value[], row: (value: Value) => [Body, string]): Row[] =>
  values.map((value) => [JSON.stringify(row(value)[0]), ...row(value)]);

const NO_ORDER = ['number', 'amount', 'currency', 'description'].map((name) => `order.${name}: ${blank}`);

/** Sessions that are refused, and the entries with the reasons. */
export const REFUSED_SESSIONS: Row[] = [
  ...rows(['operation', 'success_url', 'hash'], (name) => [{ [name]: undefined }, `${name}: ${blank}`]),
  ...rows(['operation', 'success_url', 'hash'], (name) => [{ [name]: '' }, `${name}: ${blank}`]),
  ...rows(['credit', 'PURCHASE'], (operation) => [{ operation }, `operation: ${noChoice}`]),
  ...['number', 'amount', 'currency', 'description'].map(
    (name): Row => [`no ${name}`, { order: { [name]: undefined } }, `order.${name}: ${blank}`],
  ),
  ...[undefined, null, '10.00', 10, true, [], [{ number: '1', amount: '10.00' }]].map(
    (order): Row => [`order ${JSON.stringify(order)}`, { order }, ...NO_ORDER],
  ),
  ...rows([10, 10.25, 1e3, true], (amount) => [{ order: { amount } }, `order.amount: ${noText}`]),
  ...rows([{ value: '10.00' }, ['10.00']], (amount) => [{ order: { amount } }, `order.amount: ${notSingle}`]),
  ...rows(
    [
      ...['1e3', '+1.00', '-1.00', '1,00', '.50', '1.', ' 1.00', '0x10', '10', '10.5', '10.000', '1234567890123.00'],
      ...['١.٠٠', '010.00', '000.00'],
    ],
    (amount) => [{ order: { amount } }, `order.amount: ${invalid}`],
  ),
  ...rows(['0.00'], (amount) => [{ order: { amount } }, `order.amount: ${tooLittle}`]),
  ...rows(['100.50', '100.000', '1.0'], (amount) => [
    { order: { amount, currency: 'JPY' } },
    `order.amount: ${invalid}`,
  ]),
  ...rows(['1', '1.0', '1.0000'], (amount) => [{ order: { amount, currency: 'KWD' } }, `order.amount: ${invalid}`]),
  ...rows(['usd', 'ABC', 'US', '840'], (currency) => [{ order: { currency } }, `order.currency: ${noChoice}`]),
  ...rows([17, true], (number) => [{ order: { number } }, `order.number: ${noText}`]),
  ...rows(['17 ', ' ', 'a\nb'], (number) => [{ order: { number } }, `order.number: ${invalid}`]),
  ['a number that is a list', { order: { number: ['1'] } }, `order.number: ${notSingle}`],
  ['a number of 256 characters', { order: { number: 'x'.repeat(256) } }, `order.number: ${tooLong(255)}`],
  ['a description of 1025', { order: { description: 'x'.repeat(1025) } }, `order.description: ${tooLong(1024)}`],
  ...rows(['success_url', 'cancel_url', 'expiry_url', 'error_url'], (name) => [
    { [name]: 'javascript:alert(1)' },
    `${name}: ${noUrl}`,
  ]),
  ...rows(['shop.example', '//shop.example', 'https://me:secret@shop.example', 'ftp://shop.example'], (cancel_url) => [
    { cancel_url },
    `cancel_url: ${noUrl}`,
  ]),
  ...rows([0, 721, -1, 1.5, '0', '721', '1e1', 'soon', true], (session_expiry) => [
    { session_expiry },
    `session_expiry: ${invalid}`,
  ]),
  ...rows(['auth', 'recurring_init', 'req_token'], (name) => [{ [name]: 'maybe' }, `${name}: ${noChoice}`]),
  ['a flag that is a list', { auth: ['Y'] }, `auth: ${notSingle}`],
  ['an unknown country', { billing_address: { country: 'XX' } }, `billing_address.country: ${noChoice}`],
  ['a name that is a list', { customer: { name: ['Ada'] } }, `customer.name: ${notSingle}`],
  ['two errors', { operation: '', order: { amount: '1' } }, `operation: ${blank}`, `order.amount: ${invalid}`],
];

/** Sessions as real clients send them, all valid. */
export const TOLERATED_SESSIONS: [what: string, fields: Body][] = [
  ['100 yen', { order: { amount: '100', currency: 'JPY' } }],
  ['100.00 yen', { order: { amount: '100.00', currency: 'JPY' } }],
  ['three decimals of a dinar', { order: { amount: '1.250', currency: 'KWD' } }],
  ['two decimals of a dinar', { order: { amount: '1.25', currency: 'KWD' } }],
  ['an order number with special characters', { order: { number: `#7/2 é & ${newOrderId()}` } }],
  ['null objects', { customer: null, billing_address: null, parameters: null, custom_data: null, methods: null }],
  ['lists for empty objects', { customer: [], billing_address: [], parameters: [], custom_data: [] }],
  ['empty objects', { customer: {}, billing_address: {}, parameters: {}, custom_data: {}, methods: [] }],
  ['nested nulls', { customer: { name: null }, billing_address: { country: null, zip: null } }],
  ['empty texts', { cancel_url: '', expiry_url: '', error_url: '', url_target: '', schedule_id: '', auth: '' }],
  ['nested empty texts', { customer: { name: '', email: '' }, billing_address: { country: '', city: '' } }],
  ['null options', { session_expiry: null, recurring_init: null, req_token: null, cancel_url: null, methods: null }],
  ['unknown keys', { vat_calc: true, colour: 'red', nested: { deep: [1, { x: null }] }, '': '' }],
  ['a country in lower case', { billing_address: { country: 'de' } }],
  ['plain http in the sandbox', { success_url: 'http://localhost:3000/thanks' }],
  ['the rest', { req_token: false, card_token: ['x'], url_target: '_top', custom_data: { a: 1, b: true, c: 'x' } }],
];

type Refused<What extends unknown[]> = [...What, fields: Body, ...Parameters<typeof refusal>];
const named = (sentence: string, ...names: string[]): Parameters<typeof refusal> => [
  'invalidData',
  ...names.map((name) => `${name}: ${sentence}`),
];
export const UNKNOWN_ID = '01a1dd06-691f-7000-87fc-b0749d0543ed';
const NO_HASH: Parameters<typeof refusal> = ['wrongHash', 'hash: Hash is not valid.'];

/** Status queries that are refused. */
export const REFUSED_QUERIES: Refused<[what: string]>[] = [
  ['nothing', {}, ...named(blank, 'payment_id')],
  ['a random id', { payment_id: UNKNOWN_ID }, 'noPayment'],
  ['an id that is not a UUID', { trans_id: 'x' }, 'noPayment'],
  ['an unknown order', { order_id: 'nothing' }, 'noOrder'],
  ['all attempts of an unknown order', { order_id: 'nothing', size: 5 }, 'noOrder'],
  ['a list of ids', { payment_id: [UNKNOWN_ID] }, ...named(notSingle, 'payment_id')],
  ['an order that is a number', { order_id: 17 }, ...named(noText, 'order_id')],
  ...[0, 101, '0', '101', 'x', 1.5, -1].map(
    (size): Refused<[string]> => [`size ${JSON.stringify(size)}`, { order_id: '1', size }, ...named(invalid, 'size')],
  ),
  ['another hash', { order_id: '1', hash: 'x' }, ...NO_HASH],
];

export const creditFields = (fields: Body = {}) => ({
  operation: 'credit',
  order_id: newOrderId(),
  order_amount: '5.00',
  order_currency: 'USD',
  order_description: 'Too much tea',
  card_token: 'x',
  ...fields,
});

/** Credits, all refused because the token is unknown. */
export const REFUSED_CREDITS: Refused<[what: string]>[] = [
  ['an unknown token', {}, 'noCardToken'],
  ['a name', { name: 'Ada Byron' }, 'noCardToken'],
  ['a list of tokens', { card_token: ['x'] }, ...named(notSingle, 'card_token')],
  ['an empty list of tokens', { card_token: [] }, ...named(notSingle, 'card_token')],
  ['an order beside the flat fields', { order: { number: '1' } }, ...named(notSingle, 'order')],
  ...[...Object.keys(creditFields()), 'hash'].map(
    (name): Refused<[string]> => [`no ${name}`, { [name]: undefined }, ...named(blank, name)],
  ),
  ['another operation', { operation: 'refund' }, ...named(noChoice, 'operation')],
  ['an amount that is a number', { order_amount: 5 }, ...named(noText, 'order_amount')],
  ['an amount without cents', { order_amount: '5' }, ...named(invalid, 'order_amount')],
  ['another hash', { hash: 'x' }, ...NO_HASH],
];

export const newOrder = (fields: Body = {}) => ({
  number: newOrderId(),
  amount: '3.00',
  description: 'Tea',
  ...fields,
});

/** Recurring payments that are refused. */
export const REFUSED_REPETITIONS: Refused<[what: string]>[] = [
  ['another token', { recurring_token: 'x' }, 'incorrectTransaction'],
  ['an unknown payment', { recurring_init_trans_id: UNKNOWN_ID }, 'incorrectTransaction'],
  ['an id that is not a UUID', { recurring_init_trans_id: 'x' }, 'incorrectTransaction'],
  ['no token', { recurring_token: '' }, ...named(blank, 'recurring_token')],
  ['no number', { order: newOrder({ number: '' }) }, ...named(blank, 'order.number')],
  ['an amount that is a number', { order: newOrder({ amount: 3 }) }, ...named(noText, 'order.amount')],
  ['dollars without cents', { order: newOrder({ amount: '3' }) }, ...named(invalid, 'order.amount')],
  ['an unknown currency', { order: newOrder({ currency: 'usd' }) }, ...named(noChoice, 'order.currency')],
  ['decimals of a yen', { order: newOrder({ currency: 'JPY', amount: '3.50' }) }, ...named(invalid, 'order.amount')],
  ['an invalid flag', { auth: 'maybe' }, ...named(noChoice, 'auth')],
  ['an unknown schedule', { schedule_id: UNKNOWN_ID }, 'unknownSchedule'],
  ['a malformed schedule_id', { schedule_id: 'x' }, 'notUuid', 'schedule_id: This is not a valid UUID.'],
  ['another hash', { hash: 'x' }, ...NO_HASH],
];

/** Operations that a state does not allow. */
export const REFUSED_OPERATIONS: Refused<[path: string, state: CheckoutState]>[] = [
  ['refund', 'prepare', {}, 'notSupported'],
  ...(['pending', 'decline', 'void', 'refund'] as const).map(
    (state): Refused<[string, CheckoutState]> => ['refund', state, {}, 'refundNotSettled'],
  ),
  ['refund', 'settled', { amount: '10.01' }, 'refundTooMuch'],
  ['refund', 'settled', { amount: 5 }, ...named(noText, 'amount')],
  ['refund', 'settled', { amount: '5' }, ...named(invalid, 'amount')],
  ['refund', 'settled', { amount: '0.00' }, ...named(tooLittle, 'amount')],
  ...(['prepare', 'redirect', 'settled', 'decline', 'void'] as const).map(
    (state): Refused<[string, CheckoutState]> => ['void', state, {}, 'notSupported'],
  ),
  ...(['prepare', 'settled', 'decline', 'expired'] as const).map(
    (state): Refused<[string, CheckoutState]> => ['capture', state, {}, 'captureNotPending'],
  ),
  ['capture', 'pending', { amount: '10.01' }, 'captureTooMuch'],
  ['capture', 'pending', { amount: '10.0' }, ...named(invalid, 'amount')],
];

/** Characters that PostgreSQL cannot store. */
export const IMPOSSIBLE_SESSIONS: [where: string, fields: Body][] = [
  ['in the number', { order: { number: 'A\0B' } }],
  ['in the description', { order: { description: 'A\0B' } }],
  ['in the name', { customer: { name: 'A\0B' } }],
  ['in the methods', { methods: ['vcard', '\0'] }],
  ['in a name of custom_data', { custom_data: { 'A\0B': '1' } }],
  ['in the parameters', { parameters: { '\0': { A: '1' } } }],
  ['a lone surrogate in the description', { order: { description: 'A\ud800B' } }],
];

export interface FetchedPage {
  status: number;
  text: string;
  location: string;
  headers: Headers;
  /** The address of the page, against which its links are resolved. */
  url: string;
}

/** Fetches an address without following redirects. */
export async function show(url: string, init: RequestInit = {}): Promise<FetchedPage> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  const { status, headers } = response;
  return { status, headers, text: await response.text(), location: headers.get('location') ?? '', url };
}

export const fill = (url: string, form: Fields, headers: Fields = {}): Promise<FetchedPage> =>
  show(url, { method: 'POST', body: new URLSearchParams(form), headers });

/** Follows the redirects of a response until there is a page. */
export async function follow(fetched: FetchedPage): Promise<FetchedPage> {
  return fetched.location === '' ? fetched : follow(await show(new URL(fetched.location, fetched.url).href));
}

/** Submits the first form of a page, as a browser does. */
export function submitPage({ text, url }: FetchedPage, fields: Fields = {}) {
  const [, action = ''] = /<form[^>]*\saction="([^"]*)"/.exec(text) ?? [];
  const hidden = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  const values = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]));
  return fill(new URL(action.replaceAll('&amp;', '&'), url).href, { ...values, ...fields });
}

/** The inputs that a payer can see. */
export const inputs = (page: string): string[] =>
  [...page.matchAll(/<(?:input|select|textarea)\b[^>]*>/g)]
    .filter(([input]) => !input.includes('type="hidden"'))
    .map(([input]) => /\bname="([^"]*)"/.exec(input)?.[1] ?? '');
export const marked = (page: string): string[] =>
  [...page.matchAll(/<input\b[^>]*>/g)]
    .filter(([input]) => input.includes('aria-invalid="true"'))
    .map(([input]) => /\bname="([^"]*)"/.exec(input)?.[1] ?? '');
/** The payment methods that a page offers. */
export const choices = (page: string): string[] =>
  [
    ...page.matchAll(/(?:class="choice"[^>]* href="\?method=|<button class="choice" name="method" value=")([^"]*)"/g),
  ].map(([, label]) => decodeURIComponent(label ?? ''));

/** The identifiers of the test brand for each outcome. */
export const VCARD = {
  success: { method: 'vcard', identifier: 'success@example.com' },
  decline: { method: 'vcard', identifier: 'decline@example.com' },
} as const;

/** The card form as its payer fills it in; in the sandbox this card succeeds. */
export const cardForm = (form: Fields = {}): Fields => ({
  ...{ method: 'card', card_number: '4111111111111111', card_expiry: '01/38', card_cvv: '123' },
  ...{ card_holder: 'Ada Byron', ...form },
});

export const DOC_A = { method: 'doc-a', 'parameters[document_number]': '45678912' };

export const CHECKOUT_STATES = [
  ...(['prepare', 'redirect', 'pending', 'settled', 'decline'] as const),
  ...(['void', 'refund', 'reversal', 'expired', 'chargeback'] as const),
];
export type CheckoutState = (typeof CHECKOUT_STATES)[number];

export interface Session {
  url: string;
  id: string;
  request: Body;
  orderId: string;
}

/** The calls of one shop, each with the default fields. */
export function checkoutOf(shop: TestGateway) {
  const raw = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`${shop.url}/api/v1/${path}`, init);
    return { status: response.status, body: await response.json(), headers: response.headers };
  };
  const sendBody = (path: string, body: unknown): Promise<Answer> =>
    raw(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  const send = (path: string, fields: Body, merchant: Merchant = shop.merchant): Promise<Answer> =>
    sendBody(path, signed(path, fields, merchant));
  const inspect = async (id: string): Promise<Answer['body']> => (await shop.admin('GET', `/payments/${id}`)).body;

  const open = async (fields: Body = {}, merchant: Merchant = shop.merchant): Promise<Session> => {
    const request = signed('session', sessionFields(fields), merchant);
    const { status, body } = await sendBody('session', request);
    expect(status, JSON.stringify(body)).toBe(200);
    const url: string = body.redirect_url;
    const id = url.slice(url.lastIndexOf('/') + 1).split('.')[0] as string;
    return { url, id, request, orderId: String(at(request, 'order.number')) };
  };

  /** A session whose payer paid with the test brand, or was declined. */
  const paid = async (fields: Body = {}, merchant = shop.merchant, outcome: keyof typeof VCARD = 'success') => {
    const session = await open({ methods: ['vcard'], ...fields }, merchant);
    expect((await fill(session.url, VCARD[outcome])).status).toBe(303);
    return session;
  };

  /** A session whose payer paid with a card, and the token of the card when it was requested. */
  const paidByCard = async (fields: Body = {}, merchant = shop.merchant, form: Fields = {}) => {
    const session = await open({ methods: ['card'], req_token: true, ...fields }, merchant);
    const { status, text } = await fill(session.url, cardForm(form));
    expect(status, text).toBe(303);
    const { body } = await send('payment/status', { order_id: session.orderId }, merchant);
    return { ...session, id: body.payment_id as string, token: body.card_token as string, state: body.status };
  };

  /** A session whose payer was redirected to the provider’s page. */
  const atDocA = async (fields: Body = {}, merchant = shop.merchant): Promise<Session & { page: string }> => {
    const session = await open({ methods: ['doc-a'], ...fields }, merchant);
    const { status, location } = await fill(session.url, DOC_A);
    expect([status, location.startsWith(`${shop.provider?.url}/pay/`)]).toEqual([303, true]);
    return { ...session, page: location };
  };

  /** The steps that bring a payment into a state, starting with a session. */
  const PAYMENT_IN_STATE: Record<CheckoutState, (merchant: Merchant) => Promise<string>> = {
    prepare: async (merchant) => (await open({}, merchant)).id,
    redirect: async (merchant) => (await atDocA({}, merchant)).id,
    pending: async (merchant) => (await paid({ auth: 'Y' }, merchant)).id,
    settled: async (merchant) => (await paid({}, merchant)).id,
    decline: async (merchant) => (await paid({}, merchant, 'decline')).id,
    void: (merchant) => from('pending', merchant, (id) => send('payment/void', { payment_id: id }, merchant)),
    refund: (merchant) => from('settled', merchant, (id) => send('payment/refund', { payment_id: id }, merchant)),
    reversal: (merchant) => from('pending', merchant, (id) => shop.post(operationFields(merchant, 'CREDITVOID', id))),
    expired: (merchant) => from('pending', merchant, () => shop.advanceClock(8 * 86_400, merchant.mid)),
    chargeback: (merchant) =>
      from('settled', merchant, (id) => shop.sandbox('POST', `/payments/${id}`, { chargeback: true })),
  };
  const from = async (state: CheckoutState, merchant: Merchant, step: (id: string) => Promise<unknown>) => {
    const id = await PAYMENT_IN_STATE[state](merchant);
    await step(id);
    return id;
  };

  return {
    raw,
    sendBody,
    send,
    inspect,
    open,
    paid,
    paidByCard,
    atDocA,
    /** A payment in this state, made through a session. */
    inState: (state: CheckoutState, merchant: Merchant) => PAYMENT_IN_STATE[state](merchant),
    status: (fields: Body, merchant?: Merchant) => send('payment/status', fields, merchant),
    stateOf: async (payment_id: string, merchant?: Merchant): Promise<string> =>
      (await send('payment/status', { payment_id }, merchant)).body.status,

    events: async (id: string): Promise<string[]> =>
      (await inspect(id)).history.map((row: { event: string }) => row.event),
    submissions: async (id: string): Promise<number> =>
      (await inspect(id)).provider_calls.filter((call: { verb: string }) => call.verb === 'submit').length,

    /** The ids of all attempts of an order, newest first. */
    attempts: async (orderId: string, merchant: Merchant = shop.merchant): Promise<string[]> => {
      const { body } = await send('payment/status', { order_id: orderId, size: 100 }, merchant);
      return body.map(({ payment_id }: { payment_id: string }) => payment_id);
    },

    /** The provider’s record of a payment; undefined when it never received it. */
    async atProvider(id: string): Promise<Answer['body']> {
      const { url = '', key = '' } = shop.provider ?? {};
      const response = await fetch(`${url}/control/payments/${id}`, { headers: { authorization: `Bearer ${key}` } });
      const body = await response.json();
      return response.status === 404 ? undefined : body;
    },
  };
}
