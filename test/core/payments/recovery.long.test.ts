/** Recovery: after a crash between intent, call and outcome, a payment is submitted once and its outcome is found. */
import { describe, expect, test } from 'vitest';
import type { Connector, Outcome, Submission } from '../../../src/connectors/connector.ts';
import { createVcard } from '../../../src/connectors/vcard.ts';
import { processEverythingDue, readClock } from '../../../src/core/sandbox/clock.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { type Merchant, openShop, saleFields } from '../../support/gateway.ts';
import { shortenLimits } from '../../support/limits.ts';
import { preparedPayment } from '../../support/payments.ts';

/** What a provider does with the payments of one test. */
interface Script {
  submit: () => Promise<Outcome>;
  query: () => Promise<Outcome>;
}

const scripts = new Map<string, Script>();
const calls: { verb: 'submit' | 'query'; reference: string }[] = [];

const play =
  (verb: 'submit' | 'query') =>
  ({ identifier, reference }: Submission): Promise<Outcome> => {
    calls.push({ verb, reference });
    return (scripts.get(identifier) as Script)[verb]();
  };
const provider: Connector = { ...createVcard(), submit: play('submit'), query: play('query') };
const called = (verb: 'submit' | 'query', reference: string): number =>
  calls.filter((call) => call.verb === verb && call.reference === reference).length;

const noAnswer = async (): Promise<never> => {
  throw new Error('The provider did not answer.');
};
const answers = (outcome: Outcome) => async () => outcome;
const SETTLED = answers({ kind: 'settled', providerReference: 'p-1' });
const DECLINED = answers({ kind: 'declined', reason: 'Not enough money.' });
const UNKNOWN = answers({ kind: 'unknown' });

/** A promise that the test resolves. */
function gate(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

const shop = openShop({ connectors: { vcard: provider } });

/** A new account whose payments follow the script. */
async function scripted(script: Script) {
  const identifier = `payer-${scripts.size + 1}`;
  scripts.set(identifier, script);
  const merchant = await shop.newMerchant({ 'vcard.success': [identifier] });
  return {
    merchant,
    identifier,
    fields: saleFields(merchant, { identifier }),
    script,
    pass: (seconds: number) => shop.advanceClock(seconds, merchant.mid),
  };
}

const newest = async ({ mid }: Merchant): Promise<string> =>
  (await shop.admin('GET', `/payments?mid=${mid}`)).body.items[0].payment_id;

/** The seconds until the next query; exact, however slow the machine is. */
const pauseOf = async (id: string): Promise<number> => {
  const [row] = await shop.rows(
    `select extract(epoch from due_at - updated_at) as seconds from payments where payment_id = '${id}'`,
  );
  return Math.round(Number(row?.seconds));
};

/** Waits until the provider was called for the newest payment of the account. */
async function submitted(merchant: Merchant): Promise<string> {
  await expect.poll(() => newest(merchant).catch(() => '')).not.toBe('');
  const id = await newest(merchant);
  await expect.poll(() => called('submit', id)).toBe(1);
  return id;
}

describe('a provider that does not answer', () => {
  test.each([
    ['no answer', noAnswer, 'no answer'],
    ['unknown outcome', UNKNOWN, 'unknown'],
  ])('%s: UNDEFINED and PENDING, never declined', async (_, submit, outcome) => {
    const { fields, merchant } = await scripted({ submit, query: UNKNOWN });
    const { status, body } = await shop.post(fields);
    expect(status).toBe(200);
    expect(body).toMatchObject({ result: 'UNDEFINED', status: 'PENDING', order_id: fields.order_id });
    expect(body).not.toHaveProperty('decline_reason');
    expect((await shop.status(body.trans_id, merchant)).body).toMatchObject({ result: 'SUCCESS', status: 'PENDING' });
    expect(await shop.inspect(body.trans_id)).toMatchObject({
      status: 'PENDING',
      in_doubt: true,
      captured: '0.00',
      provider_calls: [{ verb: 'submit', connector: 'vcard', outcome, took_ms: expect.any(Number) }],
    });
  });

  test('is queried with growing pauses, and the payment stays open until the outcome is known', async () => {
    const { fields, script, pass } = await scripted({ submit: noAnswer, query: UNKNOWN });
    const { body } = await shop.post(fields);
    const pauses = [5, 5, 15, 30, 60, 300, 900, 3600, 21_600, 86_400, 86_400, 86_400];
    for (const [queries, seconds] of pauses.entries()) {
      script.query = queries % 2 === 0 ? UNKNOWN : noAnswer;
      expect(await pauseOf(body.trans_id)).toBe(seconds);
      // Time also passes by itself, on a busy machine more than half of a short pause.
      const early = seconds < 60 ? 0 : Math.floor(seconds / 2);
      if (early > 0) await pass(early);
      if (early > 0) expect(called('query', body.trans_id)).toBe(queries);
      await pass(seconds - early);
      expect(called('query', body.trans_id)).toBe(queries + 1);
      expect(await shop.inspect(body.trans_id)).toMatchObject({
        status: 'PENDING',
        in_doubt: true,
        decline_reason: null,
      });
    }
    expect(await shop.events(body.trans_id)).toEqual(['opened', 'unanswered', ...pauses.map(() => 'queried')]);
    script.query = SETTLED;
    await pass(86_400);
    expect(await shop.inspect(body.trans_id)).toMatchObject({ status: 'SETTLED', in_doubt: false });
  });

  test('later reports a settlement: SETTLED, and no further queries', async () => {
    const { fields, pass, merchant } = await scripted({ submit: noAnswer, query: SETTLED });
    const { body } = await shop.post(fields);
    await pass(6);
    expect((await shop.status(body.trans_id, merchant)).body).toMatchObject({ status: 'SETTLED' });
    expect(await shop.inspect(body.trans_id)).toMatchObject({
      in_doubt: false,
      authorised: '10.00',
      captured: '10.00',
      provider_reference: 'p-1',
      provider_calls: [
        { verb: 'submit', outcome: 'no answer' },
        { verb: 'query', outcome: 'settled' },
      ],
    });
    expect(await shop.events(body.trans_id)).toEqual(['opened', 'unanswered', 'settled']);
    await pass(10 * 86_400);
    expect(called('query', body.trans_id)).toBe(1);
  });

  test('later reports a decline: DECLINED with its reason', async () => {
    const { fields, pass, merchant } = await scripted({ submit: noAnswer, query: DECLINED });
    const { body } = await shop.post(fields);
    await pass(6);
    expect((await shop.status(body.trans_id, merchant)).body).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'Not enough money.',
    });
    expect(await shop.inspect(body.trans_id)).toMatchObject({ in_doubt: false, authorised: '0.00', captured: '0.00' });
  });

  test('later reports an authorisation: PENDING without doubt, and the authorisation expires in time', async () => {
    const { fields, pass } = await scripted({ submit: noAnswer, query: answers({ kind: 'authorised' }) });
    const { body } = await shop.post(fields);
    await pass(6);
    expect(await shop.inspect(body.trans_id)).toMatchObject({
      status: 'PENDING',
      in_doubt: false,
      authorised: '10.00',
    });
    await pass(7 * 86_400 - 60);
    expect((await shop.inspect(body.trans_id)).status).toBe('PENDING');
    await pass(60);
    expect((await shop.inspect(body.trans_id)).status).toBe('EXPIRED');
  });

  test('later reports that the payment is pending: still PENDING, and queried after longer pauses', async () => {
    const { fields, pass, script } = await scripted({ submit: noAnswer, query: answers({ kind: 'accepted' }) });
    const { body } = await shop.post(fields);
    for (const seconds of [5, 5, 15]) await pass(seconds);
    expect(await shop.events(body.trans_id)).toEqual(['opened', 'unanswered', 'queried', 'queried', 'queried']);
    await pass(15);
    expect(called('query', body.trans_id)).toBe(3);
    script.query = SETTLED;
    await pass(15);
    expect((await shop.inspect(body.trans_id)).status).toBe('SETTLED');
  });

  test('refuses a new payment for an order in doubt, and submits it once', async () => {
    const { fields, merchant, pass } = await scripted({ submit: noAnswer, query: UNKNOWN });
    const first = await shop.post(fields);
    expect((await shop.post(fields)).body).toEqual(first.body);
    await pass(3600);
    expect((await shop.post(fields)).body).toMatchObject({ error_message: 'order_id: Duplicate payment.' });
    expect((await shop.admin('GET', `/payments?mid=${merchant.mid}`)).body.items).toHaveLength(1);
    expect(called('submit', first.body.trans_id)).toBe(1);
  });
});

describe('a process that died between intent and outcome', () => {
  async function abandonedPayments(count: number, script: Script) {
    const { merchant, identifier, pass } = await scripted(script);
    const details = { description: 'A test order', identifier, payer: {} };
    const payments = Array.from({ length: count }, () => preparedPayment(shop, { mid: merchant.mid, details }));
    for (const payment of payments) expect(await shop.gateway.payments.open(payment)).toBe(true);
    return { merchant, pass, ids: payments.map((payment) => payment.paymentId) };
  }

  test('after 30 seconds the provider is queried, and the payment is never submitted again', async () => {
    const { ids, pass } = await abandonedPayments(1, { submit: SETTLED, query: SETTLED });
    const [id = ''] = ids;
    await pass(15);
    expect(called('query', id)).toBe(0);
    expect((await shop.inspect(id)).status).toBe('PREPARE');
    await pass(15);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '10.00' });
    expect(await shop.events(id)).toEqual(['opened', 'settled']);
    expect([called('query', id), called('submit', id)]).toEqual([1, 0]);
  });

  test('a provider without an outcome is queried again; the payment stays in PREPARE', async () => {
    const { ids, pass } = await abandonedPayments(1, { submit: SETTLED, query: UNKNOWN });
    const [id = ''] = ids;
    await pass(30);
    await pass(5);
    expect(await shop.events(id)).toEqual(['opened', 'queried', 'queried']);
    expect((await shop.inspect(id)).status).toBe('PREPARE');
  });

  test('two gateways at the same time find each outcome exactly once', async () => {
    const { ids, merchant } = await abandonedPayments(40, { submit: SETTLED, query: SETTLED });
    const both = [shop.gateway, await shop.anotherGateway()];
    await shop.gateway.installation.moveClock(merchant.mid, 31_000);
    for (const gateway of both) await readClock(gateway);
    await Promise.all([...both, ...both].map(processEverythingDue));
    for (const id of ids) {
      expect(await shop.events(id)).toEqual(['opened', 'settled']);
      expect([called('query', id), called('submit', id)]).toEqual([1, 0]);
    }
  });

  test('a payment claimed by a process that died is claimed again after 30 seconds', async () => {
    const { ids, merchant, pass } = await abandonedPayments(1, { submit: SETTLED, query: SETTLED });
    const [id = ''] = ids;
    // Due, and claimed by a process that does nothing more.
    await shop.gateway.installation.moveClock(merchant.mid, 31_000);
    const claimed = await shop.gateway.payments.claimDue('vcard', 200);
    expect(claimed.map((payment) => payment.paymentId)).toContain(id);
    await pass(14);
    expect((await shop.inspect(id)).status).toBe('PREPARE');
    await pass(17);
    expect((await shop.inspect(id)).status).toBe('SETTLED');
    expect(called('query', id)).toBe(1);
  });

  test('an outcome that could not be written is found by a query: the request failed, the payment did not', async () => {
    const { fields, merchant, pass } = await scripted({
      submit: async () => {
        await shop.rows('alter table history rename to history_away');
        return { kind: 'settled' };
      },
      query: SETTLED,
    });
    expect((await shop.post(fields)).status).toBe(500);
    await shop.rows('alter table history_away rename to history');
    const id = await newest(merchant);
    expect((await shop.inspect(id)).status).toBe('PREPARE');
    await pass(31);
    expect(await shop.events(id)).toEqual(['opened', 'settled']);
    expect([called('submit', id), called('query', id)]).toEqual([1, 1]);
  });
});

describe('a slow submission', () => {
  test('a repeat of the request waits and gets the same outcome', async () => {
    const slow = gate();
    const { fields, merchant } = await scripted({ submit: () => slow.opened.then(SETTLED), query: UNKNOWN });
    const original = shop.post(fields);
    const id = await submitted(merchant);
    let answered = 0;
    const repeats = [1, 2, 3].map(() => shop.post(fields).finally(() => answered++));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(answered).toBe(0);
    slow.open();
    const { body } = await original;
    expect(body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED', trans_id: id });
    for (const repeat of repeats) expect((await repeat).body).toEqual(body);
    expect(called('submit', id)).toBe(1);
  });

  test.each([
    ['settled', SETTLED],
    ['declined', DECLINED],
  ])('queried after 30 seconds it is SETTLED once; a late answer %s is recorded as noted', async (_, late) => {
    const stuck = gate();
    const { fields, merchant, pass } = await scripted({ submit: () => stuck.opened.then(late), query: SETTLED });
    const original = shop.post(fields);
    const id = await submitted(merchant);
    await pass(31);
    expect((await shop.inspect(id)).status).toBe('SETTLED');
    stuck.open();
    expect((await original).body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED', trans_id: id });
    expect(await shop.events(id)).toEqual(['opened', 'settled', expect.stringMatching(/^noted /)]);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '10.00', decline_reason: null });
    expect([called('submit', id), called('query', id)]).toEqual([1, 1]);
  });

  describe('with a short wait for the original', () => {
    shortenLimits({ duplicateWaitMs: 2000 });

    test('a repeat of a request that hangs gets the current state when its wait is over', async () => {
      const stuck = gate();
      const { fields, merchant } = await scripted({ submit: () => stuck.opened.then(SETTLED), query: UNKNOWN });
      const original = shop.post(fields);
      const id = await submitted(merchant);
      const started = performance.now();
      // It is answered although the original hangs until the end of the test.
      const { status, body } = await shop.post(fields);
      const seconds = (performance.now() - started) / 1000;
      expect(status).toBe(200);
      expect(body).toMatchObject({ result: 'UNDEFINED', status: 'PREPARE', trans_id: id });
      expect(seconds).toBeGreaterThan(1.8);
      stuck.open();
      expect((await original).body).toMatchObject({ status: 'SETTLED', trans_id: id });
      expect(called('submit', id)).toBe(1);
    });
  });
});

test('nothing was submitted twice, and every invariant holds', async () => {
  const submits = calls.filter((call) => call.verb === 'submit').map((call) => call.reference);
  expect(submits.length).toBeGreaterThan(10);
  expect(new Set(submits).size).toBe(submits.length);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
