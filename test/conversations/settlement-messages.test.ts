/** Callbacks and e-mails to merchants about settlements, payouts and bank accounts: off by default, signed, retried. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findAccount } from '../../src/core/accounts/accounts.ts';
import { processEverythingDue } from '../../src/core/due/due.ts';
import { signedId } from '../../src/lib/crypto/signature.ts';
import { type Answer, type Merchant, openShop, sign } from '../support/gateway.ts';
import { headersOf, partsOf, startMailServer, type TestMailServer } from '../support/mail.ts';
import { answers, startReceiver, type TestReceiver } from '../support/receivers.ts';

const mail = { url: '', from: 'books@pay.example' };
let server: TestMailServer;
let receiver: TestReceiver;
beforeAll(async () => {
  server = await startMailServer();
  mail.url = server.url;
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await server.stop();
});
const shop = openShop({ mail });

let accountant: string;
beforeAll(async () => {
  accountant = (await shop.admin('POST', '/tokens', { name: 'Books', role: 'accountant' })).body.token;
});
beforeEach(() => {
  receiver.received = [];
  receiver.behaviour = answers(200);
  server.behaviour = 'accepts';
  server.mails.length = 0;
});

const done = async (method: string, path: string, body?: unknown, token?: string): Promise<Answer['body']> => {
  const answer = await shop.admin(method, path, body, token);
  expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status);
  return answer.body;
};
const ON = { settlement_callbacks: true, payout_callbacks: true, 'billing.email': 'ana@tea.example' };
const IBAN = 'DE89370400440532013000';

const newMerchant = (settings: Record<string, unknown> = {}): Promise<Merchant> =>
  shop.newMerchant({ name: 'Tea House', callback_url: receiver.url, ...settings });
const setBank = ({ mid }: Merchant, iban = IBAN) =>
  done('PUT', `/accounts/${mid}/bank-account`, { currency: 'USD', holder: 'Tea House', iban });

async function cutOf(merchant: Merchant): Promise<Answer['body']> {
  await shop.sale({ order_amount: '100.00' }, merchant);
  return done('POST', '/settlements', { mid: merchant.mid, currency: 'USD' });
}

/** A settlement whose transfer is at the bank. */
async function paidOut(merchant: Merchant) {
  await setBank(merchant);
  const settlement = await cutOf(merchant);
  await done('POST', `/settlements/${settlement.settlement_id}/approve`);
  const payout = await done('POST', '/payouts', { settlement_ids: [settlement.settlement_id], format: 'csv' });
  await done('POST', `/payouts/${payout.payout_id}/approve`, undefined, accountant);
  const transferId: string = payout.transfers[0].transfer_id;
  return { settlement, transferId, path: `/payouts/${payout.payout_id}/transfers/${transferId}` };
}

/** The callbacks about settlements and payouts that arrived. */
const callbacks = (isJson = false): Record<string, string>[] =>
  receiver.received
    .map(({ body }) => (isJson ? JSON.parse(String(body)) : Object.fromEntries(new URLSearchParams(String(body)))))
    .filter(({ type }) => type === 'settlement' || type === 'payout');

const messagesOf = async ({ mid }: Merchant): Promise<Answer['body'][]> =>
  (await done('GET', `/settlement-messages?mid=${mid}`)).items;

test('nothing is sent by default', async () => {
  const merchant = await newMerchant();
  const { path } = await paidOut(merchant);
  await setBank(merchant, 'FR1420041010050500013M02606');
  await done('POST', path, { state: 'paid' });
  await processEverythingDue(shop.gateway);
  expect(callbacks()).toEqual([]);
  expect(server.mails).toEqual([]);
  expect(await messagesOf(merchant)).toEqual([]);
});

test.each(['form', 'json'])('each state is told once, signed, in the format %s', async (format) => {
  const merchant = await newMerchant({ ...ON, callback_format: format });
  const { settlement, transferId, path } = await paidOut(merchant);
  await done('POST', path, { state: 'paid' });
  await processEverythingDue(shop.gateway);
  await processEverythingDue(shop.gateway);
  const told = callbacks(format === 'json');
  expect(told.map(({ type, status }) => `${type} ${status}`).sort()).toEqual([
    ...['payout in_transit', 'payout paid', 'settlement approved', 'settlement draft'],
  ]);
  const of = (name: string) => told.find(({ type, status }) => `${type} ${status}` === name) as Record<string, string>;
  const id: string = settlement.settlement_id;
  expect(of('settlement approved')).toMatchObject({
    mid: merchant.mid,
    settlement_id: id,
    number: '1',
    currency: 'USD',
    until: settlement.until,
    opening: '0.00',
    closing: '100.00',
    payout: '100.00',
  });
  expect(of('payout paid')).toMatchObject({ settlement_id: id, transfer_id: transferId, amount: '100.00' });
  expect(of('settlement approved').hash).toBe(sign(merchant.password, id, 'approved', '100.00', 'USD'));
  expect(of('payout paid').hash).toBe(sign(merchant.password, transferId, 'paid', '100.00', 'USD'));
  const secrets = (await findAccount(shop.gateway, merchant.mid))?.callbackSecrets() ?? [];
  const ids = (await messagesOf(merchant)).filter(({ channel }) => channel === 'callback').map((one) => one.message_id);
  const signed = receiver.received
    .map(({ headers, body }) => signedId(headers, body, secrets, Date.now(), 300_000))
    .filter((one) => ids.includes(one));
  expect(signed.toSorted()).toEqual(ids.toSorted());
});

test('a callback that is not accepted is tried again, and can be sent again by hand', async () => {
  const merchant = await newMerchant({ settlement_callbacks: true });
  receiver.behaviour = answers(500);
  await cutOf(merchant);
  await processEverythingDue(shop.gateway);
  const [message] = await messagesOf(merchant);
  expect(message).toMatchObject({
    channel: 'callback',
    type: 'settlement',
    status: 'draft',
    state: 'waiting',
    tries: 1,
    reason: 'The server answered with status 500.',
  });
  receiver.behaviour = answers(200);
  await done('POST', `/settlement-messages/${message.message_id}/resend`);
  await processEverythingDue(shop.gateway);
  expect((await messagesOf(merchant))[0]).toMatchObject({ state: 'sent', reason: null, next_try_at: null });
  expect((await shop.admin('POST', `/settlement-messages/${crypto.randomUUID()}/resend`)).status).toBe(404);
  const csv = (await shop.admin('GET', `/settlement-messages.csv?mid=${merchant.mid}`)).body;
  expect(csv.trimEnd().split('\r\n')).toHaveLength(2);
});

test('after the last attempt it has failed, and is not tried again', async () => {
  const merchant = await newMerchant({ settlement_callbacks: true });
  receiver.behaviour = answers(500);
  await cutOf(merchant);
  for (let day = 0; day < 8; day++) await shop.advanceClock(86_400, merchant.mid);
  const [message] = await messagesOf(merchant);
  expect(message).toMatchObject({ state: 'failed', next_try_at: null, tries: 14 });
});

test('an e-mail tells of a payout that was paid, and of one that was returned with its reason', async () => {
  const merchant = await newMerchant(ON);
  const { path } = await paidOut(merchant);
  await done('POST', path, { state: 'paid' });
  await processEverythingDue(shop.gateway);
  await done('POST', path, { state: 'returned', reason: 'Account closed' });
  await processEverythingDue(shop.gateway);
  const [paid, returned] = server.mails;
  expect(server.mails).toHaveLength(2);
  expect(paid?.to).toEqual(['ana@tea.example']);
  const text = (received: (typeof server.mails)[number] | undefined): string =>
    (received && partsOf(received).get('text/plain')) ?? '';
  expect(paid && headersOf(paid).get('subject')).toContain('Tea House');
  expect(text(paid)).toMatch(/USD.100\.00 for settlement 1 was paid/);
  expect(text(returned)).toMatch(/The bank returned the payout/);
  expect(text(returned)).toContain('Account closed');
  const told = callbacks().find(({ status }) => status === 'returned');
  expect(told).toMatchObject({ type: 'payout', reason: 'Account closed' });
});

test('an e-mail tells of a changed bank account, masked, and not of the first one or of its confirmation', async () => {
  const merchant = await newMerchant({ 'billing.email': 'ana@tea.example', locale: 'de' });
  await setBank(merchant);
  await processEverythingDue(shop.gateway);
  expect(server.mails).toEqual([]);
  await setBank(merchant, 'FR1420041010050500013M02606');
  await done('POST', `/accounts/${merchant.mid}/bank-account/confirm`, { currency: 'USD' }, accountant);
  await processEverythingDue(shop.gateway);
  expect(server.mails).toHaveLength(1);
  const [received] = server.mails;
  const text = (received && partsOf(received).get('text/plain')) ?? '';
  expect(text).toContain('FR•• •••• 2606');
  expect(text).toContain('Auszahlungen in USD');
  expect(received?.raw).not.toContain('20041010050500013');
});

test('merchants see the messages of their accounts', async () => {
  const merchant = await newMerchant({ settlement_callbacks: true });
  const other = await newMerchant({ settlement_callbacks: true });
  await cutOf(merchant);
  await cutOf(other);
  const { token } = await done('POST', '/tokens', { name: 'Tea', role: 'merchant', mids: [merchant.mid] });
  const { items } = await done('GET', '/settlement-messages', undefined, token);
  expect(items.map(({ mid }: { mid: string }) => mid)).toEqual([merchant.mid]);
});
