/** Reminders of invoices by e-mail: before the due date and when it is over, once each. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { processEverythingDue } from '../../src/core/due/due.ts';
import { cardForm, fill, show } from '../support/checkout.ts';
import { type Merchant, openShop } from '../support/gateway.ts';
import { headersOf, partsOf, startMailServer, type TestMailServer } from '../support/mail.ts';

const mail = { url: '', from: 'receipts@pay.example' };
let server: TestMailServer;
beforeAll(async () => {
  server = await startMailServer();
  mail.url = server.url;
});
afterAll(() => server.stop());
const shop = openShop({ simulator: true, mail });
const DAY = 86_400;

let merchant: Merchant;
beforeEach(async () => {
  server.behaviour = 'accepts';
  server.mails.length = 0;
  merchant = await shop.newMerchant({ invoice_reminders: true, branding: { name: 'Tea & Sons' } });
});

const now = (): number => shop.gateway.clock.now(merchant.mid);
const dayIn = (days: number): string => new Date(now() + days * DAY * 1000).toISOString().slice(0, 10);
const pass = async (days: number): Promise<void> => {
  await shop.advanceClock(days * DAY, merchant.mid);
  await processEverythingDue(shop.gateway);
};
const subjects = (): string[] => server.mails.map((received) => headersOf(received).get('subject') ?? '');

async function invoice(dueInDays: number): Promise<{ id: string; url: string; number: string }> {
  const { status, body } = await shop.admin('POST', '/invoices', {
    mid: merchant.mid,
    currency: 'EUR',
    lines: [{ description: 'Tea', quantity: '1', unit_amount: '10.00', tax_percent: '0' }],
    payer: { name: 'Ada Byron', email: 'ada@example.com' },
    due_on: dayIn(dueInDays),
  });
  expect(status).toBe(201);
  return { id: body.invoice_id, url: body.url, number: body.number };
}

test('come three days before the due date and on the day after it, once each', async () => {
  const { number, url } = await invoice(10);
  await pass(5);
  expect(server.mails).toHaveLength(0);
  await pass(3);
  expect(subjects()).toEqual([expect.stringContaining(`Reminder: invoice ${number} is due on `)]);
  expect(partsOf(server.mails[0] as never).get('text/plain')).toContain(url);
  await pass(1);
  expect(server.mails).toHaveLength(1);
  await pass(3);
  expect(subjects()[1]).toContain(`Invoice ${number} is overdue`);
  await pass(30);
  expect(server.mails).toHaveLength(2);
});

test('come once if several processes look for them at the same time', async () => {
  await Promise.all(Array.from({ length: 20 }, () => invoice(10)));
  await shop.advanceClock(8 * DAY, merchant.mid);
  const other = await shop.anotherGateway();
  await Promise.all([processEverythingDue(shop.gateway), processEverythingDue(other)]);
  expect([subjects().length, new Set(subjects()).size]).toEqual([20, 20]);
});

test('are not sent for a paid or void invoice, without the setting, or for a date that is over', async () => {
  const paid = await invoice(10);
  const voided = await invoice(10);
  await shop.admin('POST', `/invoices/${voided.id}/void`);
  const begun = await fill(paid.url, {});
  await fill(new URL(begun.location, shop.url).href, cardForm());
  expect((await shop.admin('GET', `/invoices/${paid.id}`)).body.state).toBe('paid');
  server.mails.length = 0;
  await pass(8);
  await pass(30);
  expect(server.mails).toHaveLength(0);
  await invoice(-30);
  await pass(2);
  expect(server.mails).toHaveLength(0);
  await invoice(2);
  await shop.admin('PATCH', `/accounts/${merchant.mid}`, { invoice_reminders: false });
  await pass(10);
  expect(server.mails).toHaveLength(0);
});

test('are tried again while the mail server is busy, and given up if it refuses the address', async () => {
  await invoice(10);
  server.behaviour = 'busy';
  await pass(8);
  expect(server.mails).toHaveLength(0);
  server.behaviour = 'accepts';
  await shop.advanceClock(61, merchant.mid);
  await processEverythingDue(shop.gateway);
  expect(server.mails).toHaveLength(1);
  server.behaviour = 'rejects recipient';
  await pass(5);
  server.behaviour = 'accepts';
  await pass(5);
  expect(server.mails).toHaveLength(1);
});

test('an invoice that is due soon gets only the reminder that it is overdue', async () => {
  await invoice(1);
  await pass(3);
  expect(subjects()).toEqual([expect.stringContaining('is overdue')]);
  expect(
    (await show(/http\S+\/i\/\S+/.exec(partsOf(server.mails[0] as never).get('text/plain') ?? '')?.[0] ?? '')).status,
  ).toBe(200);
});
