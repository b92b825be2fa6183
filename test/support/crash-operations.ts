/** The operations whose crash points are tested: what precedes each one, and the request or the work itself. */
import { expect } from 'vitest';
import type { Gateway } from '../../src/core/context.ts';
import { processEverythingDue, readClock } from '../../src/core/sandbox/clock.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { signatureOf } from '../../src/lib/crypto/signature.ts';
import { BRAND_EXPECTATIONS } from './brand-expectations.ts';
import { type Body, cardForm, fill, sessionFields, signed } from './checkout.ts';
import { cardSale, specifiedHash } from './dialect.ts';
import { type Fields, type Merchant, newOrderId, saleFields, sign, type TestGateway } from './gateway.ts';

/** A process that takes requests and does work. */
export interface Process {
  url: string;
  gateway: Gateway;
}

/** Carries the operation out in a process, or repeats it in another one; returns the HTTP response, if there is one. */
export type Act = (process: Process) => Promise<{ status: number } | undefined>;

/** What an operation is prepared with: `process` is the one that will die. */
export interface Scene {
  shop: TestGateway;
  merchant: Merchant;
  process: Process;
}

const DAY = 86_400;

async function send(url: string, init: RequestInit): Promise<{ status: number; body: Record<string, string> }> {
  const response = await fetch(url, { method: 'POST', ...init });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

const JSON_TYPE = { 'content-type': 'application/json' };
const post = ({ url }: Process, fields: Fields) => send(`${url}/post`, { body: new URLSearchParams(fields) });
const checkout = ({ url }: Process, path: string, fields: Body, merchant: Merchant) =>
  send(`${url}/api/v1/${path}`, { headers: JSON_TYPE, body: JSON.stringify(signed(path, fields, merchant)) });

const brandSale = (brand: string, merchant: Merchant): Fields =>
  saleFields(merchant, { brand, identifier: '', ...BRAND_EXPECTATIONS[brand]?.complete });

/** Opens a session; the path of its page is the same at every process. */
async function openSession(
  { process, merchant }: Scene,
  fields: Body = {},
): Promise<{ orderId: string; path: string }> {
  const request = sessionFields({ methods: ['card'], ...fields });
  const { body } = await checkout(process, 'session', request, merchant);
  return { orderId: String((request.order as Body).number), path: new URL(body.redirect_url ?? '').pathname };
}

/** A payment by card that has ended; returns its status. */
async function paidByCard(scene: Scene, fields: Body = {}): Promise<Record<string, string>> {
  const { orderId, path } = await openSession(scene, fields);
  await fill(scene.process.url + path, cardForm());
  return (await checkout(scene.process, 'payment/status', { order_id: orderId }, scene.merchant)).body;
}

const operation =
  (path: string, fields: Body) =>
  async (scene: Scene): Promise<Act> => {
    const { payment_id } = await paidByCard(scene, fields);
    const operation_id = newId();
    return (process) => checkout(process, path, { payment_id, operation_id }, scene.merchant);
  };

const cardSaleWith =
  (fields: Fields) =>
  async ({ merchant }: Scene): Promise<Act> => {
    const sale = cardSale(merchant, fields);
    return (process) => post(process, { ...sale, hash: specifiedHash(merchant, sale) });
  };

async function repetition(scene: Scene): Promise<Fields> {
  const { payment_id = '', recurring_token = '' } = await paidByCard(scene, { recurring_init: true });
  const order_id = newOrderId();
  return {
    action: 'RECURRING_SALE',
    client_key: scene.merchant.client_key,
    order_id,
    order_amount: '4.50',
    order_description: 'The next month',
    recurring_first_trans_id: payment_id,
    recurring_token,
    hash: sign(scene.merchant.password, order_id),
  };
}

/** The next submission of the account is declined. */
async function declineNext({ shop, merchant }: Scene): Promise<void> {
  const { url = '', key = '' } = shop.provider ?? {};
  const { status } = await send(`${url}/control/faults`, {
    headers: { authorization: `Bearer ${key}`, ...JSON_TYPE },
    body: JSON.stringify({ mode: 'soft_decline', count: 1, mid: merchant.mid }),
  });
  expect(status).toBe(200);
}

export const OPERATIONS: Readonly<Record<string, (scene: Scene) => Promise<Act>>> = {
  async sale({ merchant }) {
    const fields = brandSale('pin-a', merchant);
    return (process) => post(process, fields);
  },
  'card sale': cardSaleWith({}),
  'card sale with a token': cardSaleWith({ req_token: 'Y' }),
  async 'page payment by card'(scene) {
    const { path } = await openSession(scene);
    return ({ url }) => fill(url + path, cardForm());
  },
  async 'second attempt on the page'(scene) {
    const { path } = await openSession(scene);
    await fill(scene.process.url + path, cardForm({ card_expiry: '02/38' }));
    return ({ url }) => fill(url + path, cardForm());
  },
  async '3DS continuation'(scene) {
    const { path } = await openSession(scene);
    await fill(scene.process.url + path, cardForm({ card_expiry: '05/38' }));
    const [row] = await scene.shop.rows(
      `select payment_id as id, next_step ->> 'acsTransId' as acs from payments where mid = '${scene.merchant.mid}'`,
    );
    const body = JSON.stringify({
      ...{ messageType: 'RReq', messageVersion: '2.2.0', threeDSServerTransID: row?.id, acsTransID: row?.acs },
      ...{ dsTransID: newId(), transStatus: 'Y', eci: '05', authenticationValue: 'proof', interactionCounter: '01' },
    });
    const secret = scene.shop.provider?.notificationSecret ?? '';
    return ({ url }) => {
      const headers = { ...signatureOf(newId(), Date.now(), body, [secret]), ...JSON_TYPE };
      return send(`${url}/inbound/3ds`, { body, headers });
    };
  },
  capture: operation('payment/capture', { auth: true }),
  void: operation('payment/void', { auth: true }),
  refund: operation('payment/refund', {}),
  async 'recurring sale'(scene) {
    const fields = await repetition(scene);
    return (process) => post(process, fields);
  },
  async 'retry of a declined repetition'(scene) {
    const fields = await repetition(scene);
    await declineNext(scene);
    const { trans_id, status } = (await post(scene.process, fields)).body;
    expect(status).toBe('DECLINED');
    return (process) => checkout(process, 'payment/retry', { payment_id: trans_id }, scene.merchant);
  },
  async 'schedule charge'(scene) {
    const { shop, merchant, process } = scene;
    const plan = { name: 'Plan', interval_length: '1', interval_unit: 'day', payments_count: '2' };
    const account = { client_key: merchant.client_key, hash: sign(merchant.password) };
    const { schedule_id } = (await post(process, { action: 'CREATE_SCHEDULE', ...account, ...plan })).body;
    await paidByCard(scene, { recurring_init: true, schedule_id });
    // The callbacks of the first payment are not part of the operation.
    await shop.gateway.deliverer.drain();
    await shop.gateway.installation.moveClock(merchant.mid, (DAY + 60) * 1000);
    return async ({ gateway }) => {
      await readClock(gateway);
      await processEverythingDue(gateway);
      return undefined;
    };
  },
  async 'callback delivery'({ process, merchant }) {
    await post(process, brandSale('pin-a', merchant));
    return async ({ gateway }) => {
      await gateway.deliverer.drain();
      return undefined;
    };
  },
  /** The payer pays on the page of the provider, which then notifies the gateway. */
  async notification({ process, merchant, shop }) {
    const { redirect_url = '', trans_id = '' } = (await post(process, brandSale('hosted-b', merchant))).body;
    return async ({ url }) => {
      await fill(redirect_url, { decision: 'approve' });
      // A notification that the dead process stored is applied later, by the work loop of another one.
      if (url !== shop.url) await expect.poll(async () => (await shop.inspect(trans_id)).status).toBe('SETTLED');
      return undefined;
    };
  },
};
