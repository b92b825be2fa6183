/** The precedence of refusals: every request here has two errors and is refused for the first. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Connector } from '../../src/connectors/connector.ts';
import { createVcard } from '../../src/connectors/vcard.ts';
import { BLANK, INVALID, NOT_A_CHOICE } from '../support/brand-expectations.ts';
import {
  type Answer,
  type Fields,
  type Merchant,
  newOrderId,
  saleFields,
  sign,
  startTestGateway,
  type TestGateway,
} from '../support/gateway.ts';
import { brandSale, refused } from '../support/operations.ts';

const UNKNOWN_ID = '01990000-0000-7000-8000-000000000000';
const ALLOWED = '203.0.113.7';
const vcard = createVcard();
/** Stands in for the provider of the other brands: payouts are paid at once, the rest stays pending. */
const upstream: Connector = {
  ...vcard,
  submit: ({ isPayout }) => ({ kind: isPayout ? 'settled' : 'accepted' }),
};

let shop: TestGateway;
let merchant: Merchant;
beforeAll(async () => {
  shop = await startTestGateway({ trustedProxies: ['127.0.0.0/8'], connectors: { vcard, upstream } });
  merchant = await shop.newMerchant({ ip_allowlist: ['203.0.113.0/24'] });
});
afterAll(() => shop.close());

/** A request under construction; it is signed at the end. */
interface Draft {
  fields: Fields;
  address: string;
  password: string;
}

type Refused = ReturnType<typeof refused>;

const SIGNS: Record<string, string> = {
  CAPTURE: 'trans_id',
  VOID: 'trans_id',
  CREDITVOID: 'trans_id',
  RECURRING_SALE: 'order_id',
  UPDATE_SCHEDULE: 'schedule_id',
  DELETE_SCHEDULE: 'schedule_id',
};

const draftOf = (fields: Fields): Draft => ({
  fields: { client_key: merchant.client_key, ...fields },
  address: ALLOWED,
  password: merchant.password,
});

async function send({ fields, address, password }: Draft): Promise<Pick<Answer, 'status' | 'body'>> {
  const signed = SIGNS[fields.action ?? ''];
  const hash = sign(password, signed ? (fields[signed] ?? '') : '');
  const { status, body } = await shop.post({ ...fields, hash }, { 'x-forwarded-for': address });
  return { status, body };
}

const makeSale = async (fields: Fields = {}): Promise<Answer['body']> =>
  (await shop.post(saleFields(merchant, fields), { 'x-forwarded-for': ALLOWED })).body;
const schedule = async (unit: string): Promise<string> => {
  const fields = { action: 'CREATE_SCHEDULE', name: 'A', interval_length: '1', interval_unit: unit };
  return (await send(draftOf({ ...fields, payments_count: '3' }))).body.schedule_id;
};

interface Row {
  action: string;
  /** A request that passes every check except those of the payment itself. */
  request(): Promise<Fields>;
  state: Refused;
  /** A malformed field and the sentence for it; with `password`, the account’s password is sent in it. */
  malformed: { field: string; value: string; sentence: string };
  /** Makes the request refer to something that does not exist. */
  unknown?: { fields: Fields; refusal: Refused };
}

const PASSWORD = 'password';
const revealed = {
  field: 'note',
  value: PASSWORD,
  sentence: 'This value contains the password of the account, which should never be sent.',
};

const ROWS: Row[] = [
  {
    action: 'CAPTURE',
    request: async () => ({ trans_id: (await makeSale()).trans_id }),
    state: refused('captureNotPending'),
    malformed: { field: 'amount', value: '1e3', sentence: INVALID },
    unknown: { fields: { trans_id: UNKNOWN_ID }, refusal: refused('unknownTransaction') },
  },
  {
    action: 'VOID',
    request: async () => ({ trans_id: (await makeSale()).trans_id }),
    state: refused('notSupported'),
    malformed: revealed,
    unknown: { fields: { trans_id: UNKNOWN_ID }, refusal: refused('unknownPayment') },
  },
  {
    action: 'CREDITVOID',
    request: async () => ({ trans_id: (await makeSale({ identifier: 'decline@example.com' })).trans_id }),
    state: refused('refundNotSettled'),
    malformed: { field: 'amount', value: '-1.00', sentence: INVALID },
    unknown: { fields: { trans_id: UNKNOWN_ID }, refusal: refused('unknownPayment') },
  },
  {
    action: 'RECURRING_SALE',
    async request() {
      const first = await makeSale({ recurring_init: 'Y' });
      return {
        order_id: first.order_id,
        order_amount: '1.00',
        order_description: 'Again',
        recurring_first_trans_id: first.trans_id,
        recurring_token: first.recurring_token,
      };
    },
    state: refused('duplicate', 'order_id: Duplicate payment.'),
    malformed: { field: 'order_amount', value: '1,00', sentence: INVALID },
    unknown: { fields: { recurring_token: 'x' }, refusal: refused('incorrectTransaction') },
  },
  {
    action: 'CREATE_SCHEDULE',
    async request() {
      const schedule_id = await schedule('month');
      return { schedule_id, name: 'A', interval_length: '1', interval_unit: 'month', payments_count: '3' };
    },
    state: refused('invalidData', 'schedule_id: This value is already used.'),
    malformed: { field: 'interval_unit', value: 'year', sentence: NOT_A_CHOICE },
  },
  {
    action: 'UPDATE_SCHEDULE',
    request: async () => ({ schedule_id: await schedule('week'), day_of_month: '5' }),
    state: refused('invalidData', 'day_of_month: This value should be sent with interval_unit month only.'),
    malformed: { field: 'payments_count', value: '0', sentence: INVALID },
    unknown: { fields: { schedule_id: UNKNOWN_ID }, refusal: refused('unknownSchedule') },
  },
  {
    action: 'DELETE_SCHEDULE',
    async request() {
      const schedule_id = await schedule('month');
      await send(draftOf({ action: 'DELETE_SCHEDULE', schedule_id }));
      return { schedule_id };
    },
    // A deleted schedule no longer exists.
    state: refused('unknownSchedule'),
    malformed: revealed,
    unknown: { fields: { schedule_id: UNKNOWN_ID }, refusal: refused('unknownSchedule') },
  },
];

interface RequestError {
  name: string;
  refusal: Refused;
  make(draft: Draft): Draft;
}

const withFields = (draft: Draft, fields: Fields): Draft => ({ ...draft, fields: { ...draft.fields, ...fields } });

/** Every error that a request can have before the state is checked, in the order of the checks. */
const errorsOf = ({ malformed: { field, value, sentence }, unknown }: Row): RequestError[] => [
  {
    name: 'unknown key',
    refusal: refused('invalidData', `client_key: ${INVALID}`),
    make: (draft) => withFields(draft, { client_key: 'test_nobody' }),
  },
  {
    name: 'key of the other environment',
    refusal: refused('wrongEnvironment', 'client_key: Use merchant test key.'),
    make: (draft) => withFields(draft, { client_key: 'live_nobody' }),
  },
  {
    name: 'address off the list',
    refusal: refused('addressNotAllowed'),
    make: (draft) => ({ ...draft, address: '198.51.100.1' }),
  },
  {
    name: `malformed ${field}`,
    refusal: refused('invalidData', `${field}: ${sentence}`),
    make: (draft) => withFields(draft, { [field]: value === PASSWORD ? merchant.password : value }),
  },
  {
    name: 'wrong hash',
    refusal: refused('wrongHash', 'hash: Hash is not valid.'),
    make: (draft) => ({ ...draft, password: 'wrong' }),
  },
  ...(unknown
    ? [{ name: 'unknown id', refusal: unknown.refusal, make: (draft: Draft) => withFields(draft, unknown.fields) }]
    : []),
];

/** Both concern the same field, so a request can have only one of them. */
const isSameField = (first: RequestError, second: RequestError): boolean =>
  first.name.includes('key') && second.name.includes('key');

describe.each(ROWS)('$action', (row) => {
  const flaws = errorsOf(row);
  const pairs = flaws.flatMap((first, index) =>
    flaws
      .slice(index + 1)
      .filter((second) => !isSameField(first, second))
      .map((second) => ({ first, second })),
  );
  const request = async (): Promise<Draft> => draftOf({ action: row.action, ...(await row.request()) });

  test('is refused for its state when nothing else is wrong', async () => {
    expect(await send(await request())).toEqual(row.state);
  });
  test.each(flaws)('$name before the state', async ({ make, refusal }) => {
    expect(await send(make(await request()))).toEqual(refusal);
  });
  test.each(pairs)('$first.name before $second.name', async ({ first, second }) => {
    expect(await send(first.make(second.make(await request())))).toEqual(first.refusal);
  });
});

describe('fields', () => {
  test.each(['CAPTURE', 'VOID', 'CREDITVOID'])('%s: a blank trans_id before the hash', async (action) => {
    const draft = { ...draftOf({ action, trans_id: '' }), password: 'wrong' };
    expect(await send(draft)).toEqual(refused('invalidData', `trans_id: ${BLANK}`));
  });
  test.each(['UPDATE_SCHEDULE', 'DELETE_SCHEDULE'])(
    '%s: a schedule_id that is no UUID before the hash',
    async (action) => {
      const draft = { ...draftOf({ action, schedule_id: 'x' }), password: 'wrong' };
      expect(await send(draft)).toEqual(refused('notUuid', 'schedule_id: This is not a valid UUID.'));
    },
  );
  test('CREATE_SCHEDULE and RECURRING_SALE: a schedule_id that is no UUID before the hash', async () => {
    for (const { action, request } of ROWS.filter((row) => /^(CREATE|RECUR)/.test(row.action))) {
      const draft = { ...draftOf({ action, ...(await request()), schedule_id: 'x' }), password: 'wrong' };
      expect(await send(draft)).toEqual(refused('notUuid', 'schedule_id: This is not a valid UUID.'));
    }
  });
  test('lists all missing fields in the order of the fields', async () => {
    expect(await send(draftOf({ action: 'RECURRING_SALE' }))).toEqual(
      refused(
        'invalidData',
        ...['order_id', 'order_amount', 'order_description', 'recurring_first_trans_id', 'recurring_token'].map(
          (field) => `${field}: ${BLANK}`,
        ),
      ),
    );
  });
  test.each(['CAPTURE', 'CREDITVOID'])(
    '%s: an amount with too many decimals for its currency is malformed, in every state',
    async (action) => {
      const draft = draftOf({ action, trans_id: (await makeSale()).trans_id, amount: '1' });
      expect(await send(draft)).toEqual(refused('invalidData', `amount: ${INVALID}`));
      const unknown = action === 'CAPTURE' ? refused('unknownTransaction') : refused('unknownPayment');
      expect(await send(withFields(draft, { trans_id: UNKNOWN_ID }))).toEqual(unknown);
    },
  );
});

describe('state', () => {
  test('CAPTURE: not pending before too much', async () => {
    const draft = draftOf({ action: 'CAPTURE', trans_id: (await makeSale()).trans_id, amount: '10.01' });
    expect(await send(draft)).toEqual(refused('captureNotPending'));
  });
  test('CAPTURE: more than the pending amount', async () => {
    const draft = draftOf({ action: 'CAPTURE', trans_id: (await makeSale({ auth: 'Y' })).trans_id, amount: '10.01' });
    expect(await send(draft)).toEqual(refused('captureTooMuch'));
  });
  test('RECURRING_SALE: the first payment before the schedule, the schedule before a duplicate', async () => {
    const { action, request } = ROWS.find((row) => row.action === 'RECURRING_SALE') as Row;
    const draft = withFields(draftOf({ action, ...(await request()) }), { schedule_id: UNKNOWN_ID });
    expect(await send(draft)).toEqual(refused('unknownSchedule'));
    expect(await send(withFields(draft, { recurring_token: 'x' }))).toEqual(refused('incorrectTransaction'));
    expect(await send(withFields(draft, { recurring_first_trans_id: UNKNOWN_ID }))).toEqual(
      refused('incorrectTransaction'),
    );
  });
  test('RECURRING_SALE: another account’s first payment does not exist', async () => {
    const stranger = await shop.newMerchant();
    const theirs = (await shop.sale({ recurring_init: 'Y' }, stranger)).body;
    const fields = { order_id: newOrderId(), order_amount: '1.00', order_description: 'Again' };
    const pair = { recurring_first_trans_id: theirs.trans_id, recurring_token: theirs.recurring_token };
    expect(await send(draftOf({ action: 'RECURRING_SALE', ...fields, ...pair }))).toEqual(
      refused('incorrectTransaction'),
    );
  });
});

describe('refunds', () => {
  /** The reasons to refuse a refund, in order of precedence. */
  const REASONS = {
    'the account may not': refused('refundNotAllowed'),
    'only in the portal': refused('onlyInPortal'),
    'no refund on this way': refused('notSupported'),
    'not settled': refused('refundNotSettled'),
    'too much': refused('refundTooMuch'),
  };
  type Reason = keyof typeof REASONS;
  const order = Object.keys(REASONS) as Reason[];

  /** Requests a refund that has these errors. */
  async function refundWith(...reasons: Reason[]): Promise<Pick<Answer, 'status' | 'body'>> {
    const has = (reason: Reason): boolean => reasons.includes(reason);
    const isPortal = has('only in the portal');
    const owner = await shop.newMerchant({ refunds_allowed: !has('the account may not') });
    // A payout has no refund, although its provider supports refunds.
    const isPayout = isPortal && has('no refund on this way');
    const isWaiting = has('not settled');
    const brand = isPayout ? 'p2p-b' : isWaiting ? 'upi-b' : 'vcard';
    if (isPayout && isWaiting) shop.gateway.connectors = { vcard, upstream: { ...upstream, submit: waits } };
    const { trans_id, status } = (await shop.post(brandSale(brand, owner))).body;
    expect(status).toBe(isWaiting ? 'PENDING' : 'SETTLED');
    const refunds = isPortal ? 'portal' : has('no refund on this way') ? 'none' : 'api';
    const capabilities = { ...vcard.capabilities, refunds } as const;
    shop.gateway.connectors = { vcard: { ...vcard, capabilities }, upstream: { ...upstream, capabilities } };
    try {
      const amount = has('too much') ? '10.01' : '10.00';
      const { status, body } = await shop.post({
        action: 'CREDITVOID',
        client_key: owner.client_key,
        trans_id,
        amount,
        hash: sign(owner.password, trans_id),
      });
      return { status, body };
    } finally {
      shop.gateway.connectors = { vcard, upstream };
    }
  }
  const waits: Connector['submit'] = () => ({ kind: 'accepted' });

  test.each(order)('%s', async (reason) => {
    expect(await refundWith(reason)).toEqual(REASONS[reason]);
  });
  const pairs = order.flatMap((first, index) => order.slice(index + 1).map((second) => [first, second] as const));
  test.each(pairs)('%s before %s', async (first, second) => {
    expect(await refundWith(first, second)).toEqual(REASONS[first]);
  });
  test.each(order.map((first, index) => [first, order.slice(index)] as const))(
    '%s, together with everything after it',
    async (first, reasons) => {
      expect(await refundWith(...reasons)).toEqual(REASONS[first]);
    },
  );
  test('a malformed amount and an unknown payment before all of them', async () => {
    const owner = await shop.newMerchant({ refunds_allowed: false });
    const { trans_id } = (await shop.sale({}, owner)).body;
    const ask = (id: string, amount: string) =>
      shop.post({
        action: 'CREDITVOID',
        client_key: owner.client_key,
        trans_id: id,
        amount,
        hash: sign(owner.password, id),
      });
    expect(await ask(trans_id, '1e3')).toMatchObject(refused('invalidData', `amount: ${INVALID}`));
    expect(await ask(trans_id, '1')).toMatchObject(refused('invalidData', `amount: ${INVALID}`));
    expect(await ask(UNKNOWN_ID, '1.00')).toMatchObject(refused('unknownPayment'));
  });
});
