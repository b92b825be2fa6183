/** An operation_id of the merchant makes a capture, void, refund or credit safe to repeat, in every protocol. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OperationOutcome, ProviderOperation } from '../../src/connectors/connector.ts';
import { createVcard } from '../../src/connectors/vcard.ts';
import { findAccount } from '../../src/core/accounts/accounts.ts';
import type { Account, Gateway, PaymentWithDetails } from '../../src/core/context.ts';
import { processDueOperations } from '../../src/core/due/due.ts';
import { capture, refund, voidPayment } from '../../src/core/payments/change.ts';
import { Refusal } from '../../src/rules/errors.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { INVALID } from '../support/brand-expectations.ts';
import { checkoutOf } from '../support/checkout.ts';
import { type Answer, type Merchant, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { operationsOf, refused, statusAndBody } from '../support/operations.ts';
import { sampled, sized } from '../support/size.ts';

type StatusAndBody = Pick<Answer, 'status' | 'body'>;
type Kind = 'capture' | 'void' | 'refund';
type Protocol = '/post' | 'Checkout' | 'the operator';

let shop: TestGateway;
let at: ReturnType<typeof operationsOf>;
let checkout: ReturnType<typeof checkoutOf>;
/** A second process over the same database. */
let other: Gateway;
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true, logLevel: 'error' });
  at = operationsOf(shop);
  checkout = checkoutOf(shop);
  other = await shop.anotherGateway();
  other.publicUrl = shop.url;
  other.inboundUrl = shop.url;
  for (const gateway of [shop.gateway, other]) gateway.connectors = { ...gateway.connectors, vcard: scripted };
});
afterAll(() => shop.close());

/** What vcard does with the operations of each payment; the others are done at once. */
const scripts = new Map<string, (operation: ProviderOperation) => Promise<OperationOutcome>>();
const calls: string[] = [];
const scripted = {
  ...createVcard(),
  operate(operation: ProviderOperation) {
    calls.push(operation.operation);
    return scripts.get(operation.reference)?.(operation) ?? ({ kind: 'done' } as const);
  },
};

const ACTIONS = { capture: 'CAPTURE', void: 'VOID', refund: 'CREDITVOID' } as const;
const DUPLICATE = refused('duplicateOperation', 'operation_id: Duplicate operation.');
const UNKNOWN_ID = '01990000-0000-7000-8000-000000000000';

const send = async (
  protocol: Protocol,
  kind: Kind,
  id: string,
  fields: Record<string, string>,
  merchant: Merchant = shop.merchant,
): Promise<StatusAndBody> => {
  if (protocol === '/post') return statusAndBody(at.send(ACTIONS[kind], id, fields, merchant));
  if (protocol === 'Checkout')
    return statusAndBody(checkout.send(`payment/${kind}`, { payment_id: id, ...fields }, merchant));
  return statusAndBody(shop.admin('POST', `/payments/${id}/${kind}`, fields));
};

/** The operation id in a response. */
const idIn = ({ body }: StatusAndBody): string => body.operation_id ?? body.operation?.operation_id;
const payFor = (kind: Kind, brand: string, merchant?: Merchant) =>
  kind === 'refund' ? at.settled(brand, {}, merchant) : at.authorised(brand, {}, merchant);
const operationsAt = async (id: string) =>
  (await at.inspect(id)).operations.map((operation: Record<string, string>) => [
    operation.operation,
    operation.amount,
    operation.state,
  ]);

const PROTOCOLS = ['/post', 'Checkout', 'the operator'] as const;
const KINDS = ['capture', 'void', 'refund'] as const;
const MOVED: Record<Kind, string[]> = {
  capture: ['capture in 400'],
  void: [],
  refund: ['sale in 1000', 'refund out 400'],
};

describe.each(PROTOCOLS)('over %s', (protocol) => {
  describe.each(protocol === '/post' ? KINDS : sampled(KINDS))('%s', (kind) => {
    const amount: { amount?: string } = kind === 'void' ? {} : { amount: '4.00' };
    const ask = (id: string, fields: Record<string, string>, merchant?: Merchant) =>
      send(protocol, kind, id, { ...amount, ...fields }, merchant);

    test('an identical request at any time is the same operation', async () => {
      const merchant = await shop.newMerchant();
      const id = await payFor(kind, 'pin-a', merchant);
      const operation_id = randomUUID();
      const first = await ask(id, { operation_id: operation_id.toUpperCase() }, merchant);
      expect([first.status, idIn(first)]).toEqual([200, operation_id]);
      expect(await ask(id, { operation_id }, merchant)).toEqual(first);
      await shop.advanceClock(2 * 86_400, merchant.mid);
      expect(await ask(id, { operation_id }, merchant)).toEqual(first);
      expect(await operationsAt(id)).toEqual([[kind, kind === 'void' ? '10.00' : '4.00', 'done']]);
      expect(await at.movements(id)).toEqual(MOVED[kind]);
    });

    test('with another amount, payment or action: a duplicate that changes nothing', async () => {
      const [id, second] = [await payFor(kind, 'vcard'), await payFor(kind, 'vcard')];
      const operation_id = randomUUID();
      await ask(id, { operation_id });
      const before = await at.inspect(id);
      if (kind !== 'void') {
        expect(await ask(id, { operation_id, amount: '4.01' })).toEqual(DUPLICATE);
        expect(await send(protocol, kind, id, { operation_id })).toEqual(DUPLICATE);
      }
      expect(await ask(second, { operation_id })).toEqual(DUPLICATE);
      for (const another of KINDS.filter((other) => other !== kind)) {
        expect(await send(protocol, another, id, { operation_id })).toEqual(DUPLICATE);
      }
      expect(await at.inspect(id)).toEqual(before);
      expect(await operationsAt(second)).toEqual([]);
    });

    test('refuses an id that is not a UUID, also for an unknown payment', async () => {
      const id = await payFor(kind, 'vcard');
      const entry = 'operation_id: This is not a valid UUID.';
      for (const operation_id of ['x', '0199-0000', `${randomUUID()}0`]) {
        for (const paymentId of [id, UNKNOWN_ID]) {
          expect(await ask(paymentId, { operation_id })).toEqual(refused('notUuid', entry));
        }
      }
      expect(await operationsAt(id)).toEqual([]);
      // An empty id counts as absent.
      expect((await ask(id, { operation_id: '' })).status).toBe(200);
    });

    test('a repeat of a declined operation is answered with the decline', async () => {
      const id = await payFor(kind, 'vcard');
      scripts.set(id, async () => ({ kind: 'declined', reason: 'No.' }));
      const operation_id = randomUUID();
      const first = await ask(id, { operation_id });
      scripts.delete(id);
      expect(await ask(id, { operation_id })).toEqual(first);
      expect(await operationsAt(id)).toMatchObject([[kind, expect.any(String), 'declined']]);
      expect(calls.filter((call) => call === operation_id)).toHaveLength(1);
      // Another id is another operation.
      expect(idIn(await ask(id, { operation_id: randomUUID() }))).not.toBe(operation_id);
      expect(await operationsAt(id)).toHaveLength(2);
    });

    test('a repeat waits while the first is at the provider, and both get its outcome', async () => {
      const id = await payFor(kind, 'vcard');
      const provider = Promise.withResolvers<OperationOutcome>();
      scripts.set(id, () => provider.promise);
      const operation_id = randomUUID();
      const first = ask(id, { operation_id });
      await expect.poll(() => calls.filter((call) => call === operation_id).length).toBe(1);
      let isAnswered = false;
      const second = ask(id, { operation_id }).finally(() => {
        isAnswered = true;
      });
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(isAnswered).toBe(false);
      // The request is stored with the intent, for any process that finds it.
      const [row] = await shop.rows(`select state, content from operations where operation_id = '${operation_id}'`);
      expect(row).toEqual({ state: 'sent', content: JSON.stringify([kind, id, ...Object.values(amount)]) });
      provider.resolve({ kind: 'done' });
      expect(await second).toEqual(await first);
      expect(calls.filter((call) => call === operation_id)).toHaveLength(1);
      expect(await operationsAt(id)).toMatchObject([[kind, expect.any(String), 'done']]);
    });

    test('an unknown outcome: the repeat says so at once, and later returns the outcome', async () => {
      const merchant = await shop.newMerchant();
      const id = await payFor(kind, 'vcard', merchant);
      scripts.set(id, async () => {
        throw new Error('The line is dead.');
      });
      const operation_id = randomUUID();
      const first = await ask(id, { operation_id }, merchant);
      expect(await ask(id, { operation_id }, merchant)).toEqual(first);
      scripts.delete(id);
      await shop.advanceClock(10, merchant.mid);
      const later = await ask(id, { operation_id }, merchant);
      expect([later.status, idIn(later)]).toEqual([200, operation_id]);
      expect(await operationsAt(id)).toMatchObject([[kind, expect.any(String), 'done']]);
    });

    test('another account may use the same id', async () => {
      const [first, second] = [shop.merchant, await shop.newMerchant()];
      const operation_id = randomUUID();
      for (const merchant of [first, second]) {
        const id = await payFor(kind, 'vcard', merchant);
        expect(await ask(id, { operation_id }, merchant)).toMatchObject({ status: 200 });
        expect(await operationsAt(id)).toHaveLength(1);
      }
    });

    test('the callback of the outcome carries the id, once', async () => {
      const id = await payFor(kind, 'vcard');
      const operation_id = randomUUID();
      await ask(id, { operation_id });
      await ask(id, { operation_id });
      const callbacks = await shop.rows(
        `select from callbacks where payment_id = '${id}' and body like '%${operation_id}%'`,
      );
      expect(callbacks).toHaveLength(1);
    });
  });
});

describe('a refused request does not use its id', () => {
  test.each(PROTOCOLS)('over %s', async (protocol) => {
    const operation_id = randomUUID();
    const reserved = await at.authorised();
    expect(await send(protocol, 'capture', reserved, { operation_id, amount: '10.01' })).toEqual(
      refused('captureTooMuch'),
    );
    const settled = await at.settled();
    expect(await send(protocol, 'capture', settled, { operation_id })).toEqual(refused('captureNotPending'));
    expect(await send(protocol, 'void', settled, { operation_id })).toEqual(refused('notSupported'));
    expect(await send(protocol, 'refund', settled, { operation_id, amount: '10.01' })).toEqual(
      refused('refundTooMuch'),
    );
    expect(await shop.rows(`select from operations where operation_id = '${operation_id}'`)).toEqual([]);
    expect(idIn(await send(protocol, 'refund', settled, { operation_id, amount: '10.00' }))).toBe(operation_id);
  });
});

describe('precedence of the duplicate among the refusals', () => {
  test.each(PROTOCOLS)('over %s: after existence and a malformed amount, before the state', async (protocol) => {
    const operation_id = randomUUID();
    await send(protocol, 'refund', await at.settled(), { operation_id, amount: '1.00' });
    const id = await at.settled();
    const unknown = {
      '/post': { capture: refused('unknownTransaction'), void: refused('unknownPayment') },
      Checkout: { capture: refused('unknownPayment'), void: refused('unknownPayment') },
      'the operator': { capture: { status: 404 }, void: { status: 404 } },
    }[protocol];
    expect(await send(protocol, 'capture', UNKNOWN_ID, { operation_id })).toMatchObject(unknown.capture);
    expect(await send(protocol, 'void', UNKNOWN_ID, { operation_id })).toMatchObject(unknown.void);
    for (const kind of ['capture', 'refund'] as const) {
      const malformed = { operation_id, amount: '1' };
      expect(await send(protocol, kind, id, malformed)).toEqual(refused('invalidData', `amount: ${INVALID}`));
    }
    // Without the id, each of these is refused for its state or its amount.
    expect(await send(protocol, 'capture', id, { operation_id })).toEqual(DUPLICATE);
    expect(await send(protocol, 'void', id, { operation_id })).toEqual(DUPLICATE);
    expect(await send(protocol, 'refund', id, { operation_id, amount: '10.01' })).toEqual(DUPLICATE);
  });

  test('a wrong hash comes first, and the hash does not cover the id', async () => {
    const id = await at.authorised();
    expect(await statusAndBody(at.send('CAPTURE', id, { operation_id: randomUUID(), hash: 'x' }))).toMatchObject({
      body: { error_message: 'Hash is not valid' },
    });
    expect(await send('/post', 'capture', id, { operation_id: randomUUID() })).toMatchObject({ status: 200 });
  });

  test('an account that may not refund: a repeat still finds its refund', async () => {
    const merchant = await shop.newMerchant();
    const id = await at.settled('vcard', {}, merchant);
    const operation_id = randomUUID();
    const first = await send('/post', 'refund', id, { operation_id }, merchant);
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { refunds_allowed: false });
    expect(await send('/post', 'refund', id, { operation_id }, merchant)).toEqual(first);
    expect(await send('/post', 'refund', id, {}, merchant)).toEqual(refused('refundNotAllowed'));
  });
});

test('finds the same operation over every protocol', async () => {
  for (const kind of KINDS) {
    const id = await payFor(kind, 'vcard');
    const operation_id = randomUUID();
    for (const protocol of PROTOCOLS) {
      expect(idIn(await send(protocol, kind, id, { operation_id }))).toBe(operation_id);
    }
    expect(await operationsAt(id)).toHaveLength(1);
  }
});

test('refuses to reuse an id that the gateway generated', async () => {
  const id = await at.authorised();
  const { body } = await send('/post', 'capture', id, {});
  const { operation_id } = body;
  expect(await send('/post', 'capture', id, { operation_id })).toEqual(DUPLICATE);
  expect(await send('/post', 'refund', id, { operation_id })).toEqual(DUPLICATE);
});

test('a reversal is found by its id', async () => {
  const id = await at.authorised('pin-a');
  const operation_id = randomUUID();
  const first = await send('/post', 'refund', id, { operation_id });
  expect(await send('/post', 'refund', id, { operation_id })).toEqual(first);
  expect(await operationsAt(id)).toEqual([['reversal', '10.00', 'done']]);
});

test('lists operations in the order of their requests, whatever their ids', async () => {
  const merchant = await shop.newMerchant();
  const id = await at.settled('vcard', {}, merchant);
  const amounts = { f: '1.00', '8': '2.00', '0': '3.00' };
  for (const first of ['f', '8', '0'] as const) {
    const fields = { amount: amounts[first], operation_id: first + randomUUID().slice(1) };
    await send('/post', 'refund', id, fields, merchant);
    await shop.advanceClock(1, merchant.mid);
  }
  expect((await operationsAt(id)).map(([, amount]: string[]) => amount)).toEqual(['1.00', '2.00', '3.00']);
});

test('a process that died after the intent: the repeat finds the operation, and the work loop its outcome', async () => {
  const merchant = await shop.newMerchant();
  const id = await at.settled('vcard', {}, merchant);
  const operation_id = randomUUID();
  // The provider never answers the process that sent the operation.
  const silence = Promise.withResolvers<OperationOutcome>();
  scripts.set(id, () => silence.promise);
  const lost = send('/post', 'refund', id, { operation_id, amount: '2.00' }, merchant);
  await expect.poll(() => calls.includes(operation_id)).toBe(true);
  await shop.gateway.installation.moveClock(merchant.mid, 31_000);
  scripts.delete(id);
  await shop.advanceClock(1, merchant.mid);
  await processDueOperations(other);
  const repeat = await send('/post', 'refund', id, { operation_id, amount: '2.00' }, merchant);
  expect(idIn(repeat)).toBe(operation_id);
  expect(await at.inspect(id)).toMatchObject({ refunded: '2.00', operations: [{ state: 'done' }] });
  silence.resolve({ kind: 'done' });
  expect(await lost).toEqual(repeat);
  expect(await at.inspect(id)).toMatchObject({ refunded: '2.00' });
});

describe('concurrent requests over two processes', () => {
  /** Calls the core of the other process, as its adapter would. */
  async function inCore(kind: Kind, id: string, amount: string, operationId: string): Promise<string> {
    const account = (await findAccount(other, shop.merchant.mid)) as Account;
    const payment = (await other.payments.find({ mid: account.mid, paymentId: id })) as PaymentWithDetails;
    const perform = {
      capture: () => capture(other, account, payment, amount, 'merchant', operationId),
      void: () => voidPayment(other, payment, 'merchant', operationId),
      refund: () => refund(other, account, payment, amount, 'merchant', 'refundOrReversal', operationId),
    };
    try {
      const { operation } = await perform[kind]();
      return `${operation.state} ${operation.operationId}`;
    } catch (error) {
      if (error instanceof Refusal) return error.error;
      throw error;
    }
  }
  const overHttp = async (kind: Kind, id: string, amount: string, operation_id: string): Promise<string> => {
    const { status, body } = await send('/post', kind, id, { operation_id, ...(amount !== '' && { amount }) });
    if (status === 200) return `done ${body.operation_id}`;
    return body.error_message === 'operation_id: Duplicate operation.' ? 'duplicateOperation' : body.error_message;
  };
  const sendThroughEither = (index: number, ...order: Parameters<typeof inCore>): Promise<string> =>
    index % 2 === 0 ? overHttp(...order) : inCore(...order);
  const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
    Array.from({ length: count }, (_, index) => make(index));

  test.each(KINDS.flatMap((kind) => ['vcard', 'pin-a'].map((brand) => [kind, brand] as const)))(
    '%s of %s: twenty identical requests are one operation, and all get its outcome',
    async (kind, brand) => {
      for (let round = 0; round < sized(1, 5); round++) {
        const id = await payFor(kind, brand);
        const operationId = randomUUID();
        const amount = kind === 'void' ? '' : '4.00';
        const outcomes = await Promise.all(
          times(20, (index) => sendThroughEither(index, kind, id, amount, operationId)),
        );
        expect(new Set(outcomes)).toEqual(new Set([`done ${operationId}`]));
        expect(await operationsAt(id)).toHaveLength(1);
        if (brand === 'pin-a') expect(await at.movements(id)).toEqual(MOVED[kind]);
      }
    },
  );

  test('one id for ten payments: one is refunded, and nothing is reserved on the others', async () => {
    for (let round = 0; round < sized(1, 10); round++) {
      const ids = await Promise.all(times(10, () => at.settled()));
      const operationId = randomUUID();
      const outcomes = await Promise.all(
        ids.map((id, index) => sendThroughEither(index, 'refund', id, '4.00', operationId)),
      );
      expect(outcomes.toSorted()).toEqual([`done ${operationId}`, ...times(9, () => 'duplicateOperation')].toSorted());
      const refunded = await Promise.all(ids.map(async (id) => (await at.inspect(id)).refunded));
      expect(refunded.toSorted()).toEqual([...times(9, () => '0.00'), '4.00']);
      for (const id of ids) expect(await at.held(id)).toEqual({ reserved: 0, busy: null });
    }
  });

  test('one id for ten amounts of one payment: one is refunded', async () => {
    for (let round = 0; round < sized(1, 5); round++) {
      const id = await at.settled();
      const operationId = randomUUID();
      const outcomes = await Promise.all(
        times(10, (index) => sendThroughEither(index, 'refund', id, `0.1${index}`, operationId)),
      );
      expect(outcomes.filter((what) => what === `done ${operationId}`)).toHaveLength(1);
      expect(outcomes.filter((what) => what === 'duplicateOperation')).toHaveLength(9);
      expect(await operationsAt(id)).toHaveLength(1);
    }
  });
});

test('every invariant holds', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
