/** The order of the checks: a request with two errors is refused for the one that is checked first. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERRORS, type ErrorName } from '../src/rules/errors.ts';
import { type Merchant, newOrderId, saleFields, sign, startTestGateway, type TestGateway } from './support/gateway.ts';

let shop: TestGateway;
let merchant: Merchant;
beforeAll(async () => {
  shop = await startTestGateway({ trustedProxies: ['127.0.0.0/8'] });
  merchant = await shop.newMerchant({ ip_allowlist: ['203.0.113.0/24'] });
});
afterAll(() => shop.close());

/** A request to which errors are added; it is signed at the end, unless the hash itself is the error. */
interface Draft {
  fields: Record<string, string>;
  /** Text that is appended to the encoded body. */
  tail: string;
  address: string;
  isWronglySigned: boolean;
}

interface Flaw {
  name: string;
  error: ErrorName;
  make(draft: Draft): Draft;
}

const withField =
  (name: string, value: string) =>
  (draft: Draft): Draft => ({ ...draft, fields: { ...draft.fields, [name]: value } });

/** Every kind of error, in the order of the checks. */
const FLAWS: Flaw[] = [
  { name: 'unknown action', error: 'unknownRoute', make: withField('action', 'NOPE') },
  { name: 'repeated field', error: 'invalidData', make: (draft) => ({ ...draft, tail: '&x=1&x=2' }) },
  { name: 'key of the other environment', error: 'wrongEnvironment', make: withField('client_key', 'live_x') },
  {
    name: 'address that is not allowed',
    error: 'addressNotAllowed',
    make: (draft) => ({ ...draft, address: '198.51.100.1' }),
  },
  { name: 'schedule_id that is not a UUID', error: 'notUuid', make: withField('schedule_id', 'x') },
  { name: 'blank field', error: 'invalidData', make: withField('brand', '') },
  { name: 'wrong hash', error: 'wrongHash', make: (draft) => ({ ...draft, isWronglySigned: true }) },
];

const EXISTENCE: Record<'SALE' | 'GET_TRANS_STATUS' | 'CAPTURE' | 'VOID', ErrorName> = {
  SALE: 'duplicatePayment',
  GET_TRANS_STATUS: 'unknownTransaction',
  CAPTURE: 'unknownTransaction',
  VOID: 'unknownPayment',
};

async function send({ fields, tail, address, isWronglySigned }: Draft, signed: string[]) {
  const password = isWronglySigned ? 'wrong' : merchant.password;
  const hash = sign(password, ...signed.map((name) => fields[name] ?? ''));
  const response = await fetch(`${shop.url}/post`, {
    method: 'POST',
    body: new URLSearchParams({ ...fields, hash }) + tail,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': address },
  });
  const body = (await response.json()) as { error_code: number; error_message: string };
  return { status: response.status, code: body.error_code, message: body.error_message };
}

const SALE_SIGNS = ['identifier', 'order_id', 'order_amount', 'order_currency'];
const refusal = (error: ErrorName) => ({
  status: ERRORS[error].http,
  code: ERRORS[error].code,
  message: ERRORS[error].message,
});
const draftOf = (fields: Record<string, string>): Draft => ({
  fields,
  tail: '',
  address: '203.0.113.7',
  isWronglySigned: false,
});

describe('SALE', () => {
  const order_id = newOrderId();
  beforeAll(async () => {
    await send(draftOf(saleFields(merchant, { order_id })), SALE_SIGNS);
  });
  const pairs = FLAWS.flatMap((first, index) => FLAWS.slice(index).map((second) => [first, second] as const));
  test.each(pairs.map(([first, second]) => ({ first, second })))(
    '$first.name before $second.name, and before a duplicate',
    async ({ first, second }) => {
      // The order already exists with other content, so every draft is also a duplicate.
      const draft = draftOf(saleFields(merchant, { order_id, order_amount: '99.00' }));
      expect(await send(first.make(second.make(draft)), SALE_SIGNS)).toEqual(refusal(first.error));
    },
  );
  test('a duplicate without other errors', async () => {
    const draft = draftOf(saleFields(merchant, { order_id, order_amount: '99.00' }));
    expect(await send(draft, SALE_SIGNS)).toEqual(refusal(EXISTENCE.SALE));
  });
});

describe.each(['GET_TRANS_STATUS', 'CAPTURE', 'VOID'] as const)('%s', (action) => {
  const unknown = () =>
    draftOf({ action, client_key: merchant.client_key, trans_id: '01990000-0000-7000-8000-000000000000' });
  const flaws = FLAWS.filter(({ error, name }) => error !== 'notUuid' && name !== 'blank field');
  test.each(flaws)('$name before existence', async (flaw) => {
    expect(await send(flaw.make(unknown()), ['trans_id'])).toEqual(refusal(flaw.error));
  });
  test('a blank trans_id before the hash and existence', async () => {
    const draft = unknown();
    draft.fields.trans_id = '';
    draft.isWronglySigned = true;
    expect(await send(draft, ['trans_id'])).toEqual(refusal('invalidData'));
  });
  test('existence without other errors', async () => {
    expect(await send(unknown(), ['trans_id'])).toEqual(refusal(EXISTENCE[action]));
  });
});

test('an unknown key is reported before the address, the fields and the hash', async () => {
  const draft = draftOf({ ...saleFields(merchant), client_key: 'test_unknown', brand: '' });
  draft.address = '198.51.100.1';
  draft.isWronglySigned = true;
  expect(await send(draft, SALE_SIGNS)).toEqual(refusal('invalidData'));
});

test('the table of errors is in the order of the checks', () => {
  const names = Object.keys(ERRORS);
  const order = [
    ...FLAWS.map(({ error }) => error).filter((error) => error !== 'invalidData'),
    'duplicatePayment',
    'unknownTransaction',
    'unknownPayment',
  ];
  const places = order.map((error) => names.indexOf(error));
  expect(places).toEqual([...places].sort((a, b) => a - b));
});
