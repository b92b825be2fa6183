/** Payers who leave an attempt for another method or want a new code: whatever happens meanwhile, one of them is paid. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Connector } from '../../src/connectors/connector.ts';
import { en } from '../../src/pages/locales/en.ts';
import { type Body, cardForm, checkoutOf, DOC_A, fill, type Session, show } from '../support/checkout.ts';
import { type Fields, type Merchant, openShop } from '../support/gateway.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);

const LEFT = 'The payer cancelled the payment.';
const CHALLENGE = cardForm({ card_expiry: '05/38' });
const CODE = { method: 'ips' };

interface Payer extends Session {
  merchant: Merchant;
  path: string;
}

/** A payer who has chosen a method in a session with several. */
async function chose(form: Fields, fields: Body = {}): Promise<Payer> {
  const merchant = await shop.newMerchant();
  const methods = ['card', 'ips', 'doc-a', 'vcard'];
  const session = await checkout.open({ methods, order: { currency: 'RSD' }, ...fields }, merchant);
  expect((await fill(session.url, form)).status).toBe(303);
  return { ...session, merchant, path: new URL(session.url).pathname };
}
const leave = ({ url }: Session) => fill(`${url}/leave`, {});
const newCode = ({ url }: Session) => fill(`${url}/code`, {});
const stateOf = (payer: Payer) => checkout.stateOf(payer.id, payer.merchant);
const attempts = (payer: Payer) => checkout.attempts(payer.orderId, payer.merchant);
const report = ({ id }: Session, body: Body) => shop.sandbox('POST', `/payments/${id}`, body);
const fault = ({ merchant }: Payer, mode: string) => shop.sandbox('POST', '/faults', { mid: merchant.mid, mode });
/** How often the money of the order moved at the provider. */
async function movements(payer: Payer): Promise<number> {
  const payments = await Promise.all((await attempts(payer)).map((id) => checkout.atProvider(id)));
  return payments.reduce((sum, payment) => sum + (payment?.movements?.length ?? 0), 0);
}
/** The payer pays with a card that succeeds; it is the only payment of the order. */
async function paysOnce(payer: Payer): Promise<void> {
  expect((await fill(payer.url, cardForm())).status).toBe(303);
  const [newest = ''] = await attempts(payer);
  expect(newest).not.toBe(payer.id);
  expect(await checkout.stateOf(newest, payer.merchant)).toBe('settled');
  expect(await movements(payer)).toBe(1);
}

describe('leaving a challenge', () => {
  test('declines the attempt with its callback, and the payer can use another card', async () => {
    const payer = await chose(CHALLENGE);
    expect((await show(payer.url)).text).toContain(`action="${payer.path}/leave"`);
    expect(await leave(payer)).toMatchObject({ status: 303, location: payer.path });
    expect(await shop.inspect(payer.id)).toMatchObject({ status: 'DECLINED', decline_reason: LEFT, attention: null });
    expect((await checkout.inspect(payer.id)).history.at(-1)).toMatchObject({ event: 'abandoned', actor: 'payer' });
    const { text } = await show(payer.url);
    expect(text).toContain(en.challenge.left);
    expect(text).not.toContain(en.declined);
    expect(shop.gateway.securityCodes.take(payer.id)).toBeUndefined();
    expect(await checkout.atProvider(payer.id)).toBeUndefined();
    await paysOnce(payer);
  });

  test('at the same time as its confirmation: either the card is submitted, or the attempt is over', async () => {
    for (const _ of Array(4)) {
      const payer = await chose(CHALLENGE);
      const [, form = ''] = /action="([^"]*\/3ds\/acs)"/.exec((await show(payer.url)).text) ?? [];
      const acsTransId = (
        await shop.rows(`select next_step ->> 'acsTransId' as id from payments
        where payment_id = '${payer.id}'`)
      )[0]?.id;
      await Promise.all([fill(`${form}/${acsTransId}`, { code: '1234' }), leave(payer)]);
      await expect.poll(() => stateOf(payer)).toMatch(/settled|decline/);
      const isPaid = (await stateOf(payer)) === 'settled';
      expect(await movements(payer)).toBe(isPaid ? 1 : 0);
      await fill(payer.url, cardForm());
      expect(await movements(payer)).toBe(1);
    }
  });

  test('is not possible after the payment, nor twice', async () => {
    const paid = await chose(cardForm());
    await leave(paid);
    expect(await stateOf(paid)).toBe('settled');
    const payer = await chose(CHALLENGE);
    await Promise.all([leave(payer), leave(payer)]);
    expect((await checkout.events(payer.id)).filter((event) => event === 'abandoned')).toHaveLength(1);
    expect(await attempts(payer)).toEqual([payer.id]);
  });

  test('is not accepted from another site', async () => {
    const payer = await chose(CHALLENGE);
    const headers = { origin: 'https://other.example', 'sec-fetch-site': 'cross-site' };
    expect((await show(`${payer.url}/leave`, { method: 'POST', headers })).status).toBe(403);
    expect(await stateOf(payer)).toBe('3ds');
    expect((await fill(`${shop.url}/pay/nothing/leave`, {})).status).toBe(404);
  });
});

describe('the answer of the bank in the frame', () => {
  const returned = ({ path }: Payer, threeDSSessionData: string) =>
    fill(`${shop.url}${path.replace('/pay/', '/3ds/')}`, { cres: 'x', threeDSSessionData });
  const IN_FRAME = Buffer.from('frame').toString('base64url');

  test('is a page that only our own page may frame, with the way on; elsewhere it is a redirect', async () => {
    const payer = await chose(CHALLENGE);
    await leave(payer);
    const framed = await returned(payer, IN_FRAME);
    expect(framed.status).toBe(200);
    expect(framed.headers.get('content-security-policy')).toContain("frame-ancestors 'self'");
    expect(framed.headers.get('x-frame-options')).toBeNull();
    expect(framed.text).toContain(`href="${payer.path}" target="_parent"`);
    expect(await returned(payer, '')).toMatchObject({ status: 303, location: payer.path });
  });
});

describe('leaving a code or a page of the provider', () => {
  test.each([
    ['code', CODE],
    ['page', DOC_A],
  ])('%s: the provider ends it first, then another method pays', async (_, form) => {
    const payer = await chose(form);
    expect(await leave(payer)).toMatchObject({ status: 303, location: payer.path });
    expect(await shop.inspect(payer.id)).toMatchObject({ status: 'DECLINED', decline_reason: LEFT });
    expect((await report(payer, { provider_status: 'executed' })).status, 'it can no longer be paid').not.toBe(200);
    await paysOnce(payer);
  });

  test('a code that was paid at the last moment stays paid, though no notification has arrived', async () => {
    const payer = await chose(CODE);
    await report(payer, { provider_status: 'executed' });
    await leave(payer);
    expect(await stateOf(payer)).toBe('settled');
    await fill(payer.url, cardForm());
    expect([await attempts(payer), await movements(payer)]).toEqual([[payer.id], 1]);
  });

  test.each(['timeout_before', 'timeout_after', 'error_500'])(
    'without an answer (%s) the attempt stays open, and no other method is offered',
    async (mode) => {
      const payer = await chose(CODE);
      await fault(payer, mode);
      const { location } = await leave(payer);
      expect(location).toBe(`${payer.path}?returned=open`);
      expect((await shop.inspect(payer.id)).status).toBe('PENDING');
      expect((await show(`${shop.url}${location}`)).text).toContain(en.challenge.stillOpen);
      await fill(payer.url, cardForm());
      expect(await attempts(payer)).toEqual([payer.id]);
      await leave(payer);
      expect((await shop.inspect(payer.id)).status).toBe('DECLINED');
      await paysOnce(payer);
    },
  );

  test('an answer with another amount ends nothing, and the operator sees it', async () => {
    const payer = await chose(CODE);
    await fault(payer, 'wrong_amount');
    await leave(payer);
    expect(await shop.inspect(payer.id)).toMatchObject({ status: 'PENDING', attention: 'wrong_amount' });
  });

  test('is not offered if the provider cannot end payments', async () => {
    const { upstream } = shop.gateway.connectors as { upstream: Connector };
    const { supportsWithdrawals: _, ...capabilities } = upstream.capabilities;
    shop.gateway.connectors = { ...shop.gateway.connectors, upstream: { ...upstream, capabilities } };
    const payer = await chose(CODE);
    expect((await show(payer.url)).text).not.toContain('/leave');
    await leave(payer);
    expect(await stateOf(payer)).toBe('pending');
    shop.gateway.connectors = { ...shop.gateway.connectors, upstream };
  });
});

describe('a new code', () => {
  const expire = ({ merchant }: Payer, seconds = 61) => shop.advanceClock(seconds, merchant.mid);
  const HAS_FORM = /action="[^"]*\/code"/;

  test('is not given before the last one has expired', async () => {
    const payer = await chose(CODE);
    expect((await show(payer.url)).text).not.toMatch(HAS_FORM);
    expect((await newCode(payer)).location).toBe(payer.path);
    expect(await checkout.events(payer.id)).not.toContain('queried');
  });

  test('belongs to the same payment, so that both codes together are paid once', async () => {
    const payer = await chose(CODE);
    await expire(payer);
    const over = (await show(payer.url)).text;
    expect(over).toMatch(HAS_FORM);
    expect(over).toContain(en.scan.overHow);
    expect(await newCode(payer)).toMatchObject({ status: 303, location: payer.path });
    expect((await show(payer.url)).text).toContain(en.codeAlt);
    expect(await attempts(payer)).toEqual([payer.id]);
    await report(payer, { bank_callback: 'ACSC' });
    expect([await stateOf(payer), await movements(payer)]).toEqual(['settled', 1]);
  });

  test('is not given for a code that was paid at the last moment', async () => {
    const payer = await chose(CODE);
    await expire(payer, 60);
    // The provider sends no notification of it.
    await report(payer, { provider_status: 'executed' });
    await newCode(payer);
    expect([await stateOf(payer), await movements(payer)]).toEqual(['settled', 1]);
    expect((await show(payer.url)).text).toContain(en.paid);
  });

  test('is not given while the provider does not answer', async () => {
    const payer = await chose(CODE);
    await expire(payer);
    await fault(payer, 'timeout_before');
    const { location } = await newCode(payer);
    const { text } = await show(`${shop.url}${location}`);
    expect(text).toContain(en.challenge.stillOpen);
    expect(text).not.toContain(en.codeAlt);
    await newCode(payer);
    expect((await show(payer.url)).text).toContain(en.codeAlt);
  });

  test('ends with the session, and is not given after it', async () => {
    const payer = await chose(CODE, { session_expiry: 2 });
    await expire(payer, 90);
    await newCode(payer);
    const [step] = await shop.rows(`select (next_step ->> 'until')::bigint - created_at_ms as ms from (
      select next_step, extract(epoch from created_at) * 1000 as created_at_ms from payments
      where payment_id = '${payer.id}') p`);
    expect(Number(step?.ms)).toBeLessThanOrEqual(120_000);
    await expire(payer, 31);
    expect((await show(payer.url)).text).not.toMatch(HAS_FORM);
    await newCode(payer);
    expect((await show(payer.url)).text).not.toContain(en.codeAlt);
  });
});

afterEach(() => shop.sandbox('DELETE', '/faults'));
