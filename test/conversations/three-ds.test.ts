/** Challenge results: which are accepted, which come too late, and which process submits the card. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Connector, Submission } from '../../src/connectors/connector.ts';
import type { Gateway, PaymentWithDetails } from '../../src/core/context.ts';
import { abandon } from '../../src/core/payments/advance.ts';
import { readClock } from '../../src/core/sandbox/clock.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { signatureOf } from '../../src/lib/crypto/signature.ts';
import type { Deadline } from '../../src/lib/time/deadline.ts';
import { createApp } from '../../src/server/app.ts';
import { type Body, cardForm, checkoutOf, fill, type Session, show } from '../support/checkout.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let shop: TestGateway;
let checkout: ReturnType<typeof checkoutOf>;
let upstream: Connector;
/** The cards that any process submitted, each with its security code. */
let submitted: { reference: string; code: string | undefined }[] = [];
/** Runs while the provider processes the submission. */
let duringSubmission: () => Promise<unknown> = async () => undefined;

function recordSubmissions(gateway: Gateway): Gateway {
  const submit = async (submission: Submission, deadline: Deadline) => {
    submitted.push({ reference: submission.reference, code: submission.card?.cvv?.reveal() });
    await duringSubmission();
    return upstream.submit(submission, deadline);
  };
  gateway.connectors = { ...gateway.connectors, upstream: { ...upstream, submit } };
  return gateway;
}

beforeAll(async () => {
  shop = await startTestGateway({ simulator: true });
  checkout = checkoutOf(shop);
  upstream = shop.gateway.connectors.upstream as Connector;
  recordSubmissions(shop.gateway);
  // All payers share one address here, and most of their payments fail.
  const unlimited = { card_failures_per_address: 0, card_failures_per_account: 0 };
  expect((await shop.admin('PATCH', `/accounts/${shop.merchant.mid}`, unlimited)).status).toBe(200);
});
afterAll(() => shop.close());
afterEach(() => {
  submitted = [];
  duringSubmission = async () => undefined;
});

type AtBank = Session & { acsTransId: string; mid: string };

/** A payer whom the card’s bank challenges. */
async function atBank(fields: Body = {}): Promise<AtBank> {
  const session = await checkout.open({ methods: ['card'], ...fields });
  expect((await fill(session.url, cardForm({ card_expiry: '05/38', card_cvv: '737' }))).status).toBe(303);
  return { ...session, acsTransId: await acsTransIdOf(session.id), mid: shop.merchant.mid };
}
const acsTransIdOf = async (id: string): Promise<string> =>
  String((await shop.rows(`select next_step ->> 'acsTransId' as id from payments where payment_id = '${id}'`))[0]?.id);
const paymentOf = async ({ id: paymentId, mid }: AtBank): Promise<PaymentWithDetails> =>
  (await shop.gateway.payments.find({ paymentId, mid })) as PaymentWithDetails;

const rreq = ({ id, acsTransId }: AtBank, fields: Body = {}): Body => ({
  ...{ messageType: 'RReq', messageVersion: '2.2.0', threeDSServerTransID: id, acsTransID: acsTransId },
  ...{ dsTransID: newId(), transStatus: 'Y', eci: '05', authenticationValue: 'proof', interactionCounter: '01' },
  ...fields,
});

async function send(body: Body, url = shop.url, secret = shop.provider?.notificationSecret ?? '') {
  const bytes = JSON.stringify(body);
  const response = await fetch(`${url}/inbound/3ds`, {
    method: 'POST',
    body: bytes,
    headers: { ...signatureOf(newId(), Date.now(), bytes, [secret]), 'content-type': 'application/json' },
  });
  return { status: response.status, body: await response.json() };
}

/** Lets time pass without running due work. */
async function advanceTime(seconds: number): Promise<void> {
  await shop.gateway.installation.moveClock(undefined, seconds * 1000);
  await readClock(shop.gateway);
}

describe('a result from the directory server', () => {
  test('is answered with its own ids, and the card is submitted with its security code', async () => {
    const payer = await atBank();
    const { status, body } = await send(rreq(payer, { dsTransID: 'ds-1' }));
    expect([status, body]).toEqual([
      200,
      {
        messageType: 'RRes',
        messageVersion: '2.2.0',
        ...{ threeDSServerTransID: payer.id, acsTransID: payer.acsTransId, dsTransID: 'ds-1', resultsStatus: '01' },
      },
    ]);
    expect(await checkout.stateOf(payer.id)).toBe('settled');
    expect(submitted).toEqual([{ reference: payer.id, code: '737' }]);
  });

  test('with a foreign signature is refused, and changes nothing', async () => {
    const payer = await atBank();
    const forged = await send(rreq(payer), shop.url, Buffer.from('another secret').toString('base64'));
    expect(forged).toMatchObject({ status: 401, body: { result: 'ERROR' } });
    expect(await checkout.stateOf(payer.id)).toBe('3ds');
  });

  test.each<[what: string, fields: (other: AtBank) => Body]>([
    ['the challenge of another payment', ({ acsTransId }) => ({ acsTransID: acsTransId })],
    ['an unknown challenge', () => ({ acsTransID: newId() })],
    ['no challenge', () => ({ acsTransID: undefined })],
    ['an unknown payment', () => ({ threeDSServerTransID: newId() })],
    ['a malformed payment id', () => ({ threeDSServerTransID: "' or true --" })],
  ])('about %s is an error, and changes nothing', async (_, fields) => {
    const [payer, other] = [await atBank(), await atBank()];
    const { status, body } = await send(rreq(payer, fields(other)));
    expect([status, body]).toMatchObject([200, { messageType: 'Erro', errorCode: '301', errorMessageType: 'RReq' }]);
    expect(await checkout.events(payer.id)).not.toContain('authenticated');
    expect(await checkout.stateOf(other.id)).toBe('3ds');
    await send(rreq(payer));
    expect(await checkout.stateOf(payer.id)).toBe('settled');
    expect(submitted).toHaveLength(1);
  });

  test('received twice, or contradicting itself: the first one counts', async () => {
    const [yes, no] = [await atBank(), await atBank()];
    const both = (payer: AtBank, ...order: string[]) =>
      order.reduce((before, transStatus) => before.then(() => send(rreq(payer, { transStatus }))), Promise.resolve({}));
    await both(yes, 'Y', 'N', 'Y');
    await both(no, 'N', 'Y', 'N');
    expect([await checkout.stateOf(yes.id), await checkout.stateOf(no.id)]).toEqual(['settled', 'decline']);
    expect(submitted).toEqual([{ reference: yes.id, code: '737' }]);
  });

  test('concurrent with its opposite: exactly one of them counts', async () => {
    duringSubmission = () => pause(20);
    for (const order of ['YN', 'NY', 'YN', 'NY', 'YN', 'NY']) {
      const payer = await atBank();
      await Promise.all([...order].map((transStatus) => send(rreq(payer, { transStatus }))));
      const events = await shop.events(payer.id);
      const isPaid = events.includes('authenticated');
      expect(events.slice(events.indexOf('challenged') + 1)).toEqual(
        isPaid ? ['authenticated', 'settled'] : ['declined'],
      );
      expect(submitted.filter(({ reference }) => reference === payer.id)).toHaveLength(isPaid ? 1 : 0);
    }
  });

  test('twenty times concurrently submits the card once', async () => {
    const payer = await atBank();
    await Promise.all(Array.from({ length: 20 }, () => send(rreq(payer))));
    expect(await checkout.stateOf(payer.id)).toBe('settled');
    expect(submitted).toHaveLength(1);
  });

  test.each(['N', 'U', 'R', 'I', 'C', 'D', '', 'y', 'YY'])(
    'of %j submits no card, and discards the security code',
    async (transStatus) => {
      const payer = await atBank();
      await send(rreq(payer, { transStatus }));
      expect(await checkout.stateOf(payer.id)).toBe('decline');
      expect(submitted).toEqual([]);
      expect(shop.gateway.securityCodes.take(payer.id)).toBeUndefined();
    },
  );
});

describe('the form that the browser brings', () => {
  const cres = (fields: Body): string =>
    Buffer.from(JSON.stringify({ messageType: 'CRes', ...fields })).toString('base64url');

  test('is never trusted, whatever its origin', async () => {
    const [payer, other] = [await atBank(), await atBank()];
    await send(rreq(other));
    for (const { id, acsTransId } of [payer, other]) {
      const claim = cres({ threeDSServerTransID: id, acsTransID: acsTransId, transStatus: 'Y' });
      const link = payer.url.slice(payer.url.lastIndexOf('/') + 1);
      const back = await fill(`${shop.url}/3ds/${link}`, { cres: claim, threeDSSessionData: '' });
      expect([back.status, back.location]).toEqual([303, `/pay/${link}?returned=1`]);
    }
    expect(await checkout.stateOf(payer.id)).toBe('3ds');
    expect(submitted.map(({ reference }) => reference)).toEqual([other.id]);
  });

  test('does not start another method: a payer at the bank stays there, in every window', async () => {
    const payer = await atBank({ methods: ['card', 'vcard'] });
    for (const form of [cardForm({ card_expiry: '01/38' }), { method: 'vcard', identifier: 'success@example.com' }]) {
      expect(await fill(payer.url, form)).toMatchObject({ status: 303, location: new URL(payer.url).pathname });
    }
    expect((await show(payer.url)).text).toContain('/3ds/acs');
    expect(await acsTransIdOf(payer.id)).toBe(payer.acsTransId);
    expect(await checkout.attempts(payer.orderId)).toEqual([payer.id]);
  });
});

describe('a result at the end of the time limit', () => {
  test('received after it is too late, even if the payment was not read since: no card is submitted', async () => {
    for (const [fields, seconds] of [
      [{}, 601],
      [{ session_expiry: 1 }, 61],
    ] as [Body, number][]) {
      const payer = await atBank(fields);
      await advanceTime(seconds);
      await send(rreq(payer));
      expect(submitted).toEqual([]);
      expect(await checkout.events(payer.id)).toEqual(['opened', 'collected', 'challenged', 'abandoned']);
    }
  });

  test('received before it counts, though the session ends while the provider processes the submission', async () => {
    const payer = await atBank({ session_expiry: 1 });
    duringSubmission = () => advanceTime(61);
    await send(rreq(payer));
    expect(await checkout.stateOf(payer.id)).toBe('settled');
  });

  test('a status query meanwhile does not end the payment', async () => {
    const payer = await atBank({ session_expiry: 1 });
    let state = '';
    duringSubmission = async () => {
      await advanceTime(61);
      state = (await shop.status(payer.id)).body.status;
    };
    await send(rreq(payer));
    expect(state).toBe('3DS');
    expect(await checkout.stateOf(payer.id)).toBe('settled');
  });

  test('a concurrent abandonment finds that the payment has proceeded', async () => {
    const payer = await atBank();
    const before = await paymentOf(payer);
    duringSubmission = () => abandon(shop.gateway, before);
    await send(rreq(payer));
    expect(await checkout.stateOf(payer.id)).toBe('settled');
    expect(await checkout.events(payer.id)).not.toContain('abandoned');
  });
});

describe('a result that another process receives', () => {
  let url: string;
  let other: Gateway;
  beforeAll(async () => {
    other = recordSubmissions(await shop.anotherGateway());
    const app = createApp(other, {
      isTrustedProxy: () => false,
      takesRequests: true,
      adminTokenDigest: Buffer.alloc(32),
    });
    url = await app.listen({ port: 0, host: '127.0.0.1' });
    Object.assign(other, { publicUrl: shop.url, inboundUrl: url });
    return () => app.close();
  });

  test('is handed to the process that has the security code, which submits the card with it', async () => {
    const payer = await atBank();
    expect((await send(rreq(payer), url)).body).toMatchObject({ messageType: 'RRes' });
    await expect.poll(() => checkout.stateOf(payer.id)).toBe('settled');
    expect(submitted).toEqual([{ reference: payer.id, code: '737' }]);
    expect(await checkout.events(payer.id)).toEqual(['opened', 'collected', 'challenged', 'authenticated', 'settled']);
  });

  test('is handed over when the challenge failed too: the security code is discarded at once', async () => {
    const payer = await atBank();
    const take = vi.spyOn(shop.gateway.securityCodes, 'take');
    onTestFinished(() => take.mockRestore());
    await send(rreq(payer, { transStatus: 'N' }), url);
    expect(await checkout.stateOf(payer.id)).toBe('decline');
    // The other process may see the outcome before this one goes on.
    await expect.poll(() => take.mock.calls).toEqual([[payer.id]]);
  });

  test('received by both concurrently, several times: the card is submitted once', async () => {
    const payer = await atBank();
    await Promise.all(Array.from({ length: 10 }, (_, index) => send(rreq(payer), index % 2 ? url : shop.url)));
    await expect.poll(() => checkout.stateOf(payer.id)).toBe('settled');
    expect(submitted).toEqual([{ reference: payer.id, code: '737' }]);
  });

  test('proceeds without the code when the process that has it died', async () => {
    const payer = await atBank();
    await shop.rows(`update payments set next_step = jsonb_set(next_step, '{holder}', '"${newId()}"')
      where payment_id = '${payer.id}'`);
    await send(rreq(payer), url);
    expect(await checkout.stateOf(payer.id)).toBe('settled');
    expect(submitted).toEqual([{ reference: payer.id, code: undefined }]);
  });

  test('proceeds without the code when the result is too long to be handed over', async () => {
    const payer = await atBank();
    const long = '€'.repeat(512);
    await send(rreq(payer, { dsTransID: long, eci: long, authenticationValue: long, messageVersion: long }), url);
    expect(submitted).toEqual([{ reference: payer.id, code: undefined }]);
  });

  test('ignores messages that no gateway sent', async () => {
    const payer = await atBank();
    const { holder } = shop.gateway.securityCodes;
    for (const words of ['', 'x', Buffer.from(JSON.stringify({ transId: payer.id })).toString('base64')]) {
      await shop.rows(`select pg_notify('turnpike_changes', '3ds ${holder} ${words}')`);
    }
    await expect
      .poll(() => shop.logs.filter((line) => line.includes('forwarded challenge result could not be applied')).length)
      .toBe(3);
    expect(await checkout.stateOf(payer.id)).toBe('3ds');
  });
});
