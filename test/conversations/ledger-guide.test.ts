/** The sale of the operator guide: its entries are those that the page shows. */
import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { type Answer, type Fields, openShop } from '../support/gateway.ts';
import { operationsOf } from '../support/operations.ts';

const shop = openShop({ simulator: true });
const at = operationsOf(shop);

const page = await readFile(new URL('../../docs/operator/ledger.md', import.meta.url), 'utf8');

/** The rows of the table with this first column, without its header. */
function tableOf(column: string): string[][] {
  const [, after = ''] = page.split(`\n| ${column} `);
  const lines = after.split('\n\n', 1)[0]?.split('\n') ?? [];
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

let payment: Answer['body'];
beforeAll(async () => {
  const merchant = await shop.newMerchant();
  const { body: plan } = await shop.admin('POST', '/price-plans', { name: 'Guide', side: 'sell' });
  const { status } = await shop.admin('POST', `/price-plans/${plan.plan_id}/versions`, {
    tax_percent: '20',
    refund_policy: 'proportional',
    lines: [
      { event: 'sale', currencies: ['EUR'], percent: '1.9', fixed: '0.25' },
      { event: 'chargeback', currencies: ['EUR'], fixed: '15.00' },
    ],
  });
  expect(status).toBe(201);
  await shop.admin('PUT', `/accounts/${merchant.mid}/price-plan`, { plan_id: plan.plan_id });
  const id = await at.sale('vcard', merchant, { auth: 'Y', order_amount: '100.00', order_currency: 'EUR' }, 'PENDING');
  await shop.admin('POST', `/payments/${id}/capture`, {});
  await shop.admin('POST', `/payments/${id}/refund`, { amount: '30.00' });
  await at.control(id, { chargeback: true });
  await at.control(id, { chargeback_reversed: true });
  payment = await shop.inspect(id);
  expect(payment.status).toBe('SETTLED');
});

test('the entries', () => {
  const side = (postings: Fields[], name: string): string =>
    postings
      .filter((posting) => posting.side === name)
      .map(({ account = '', amount }) => `\`${account.replace(payment.mid, '{mid}')}\` ${amount}`)
      .join(', ');
  const rows = payment.entries.map(({ category, postings }: { category: string; postings: Fields[] }) => [
    `\`${category}\``,
    side(postings, 'debit'),
    side(postings, 'credit'),
  ]);
  expect(tableOf('Event').map(([, ...cells]) => cells)).toEqual(rows);
});

test('the money', () => {
  const { gross, refunded, charged_back, fees, net } = payment.money;
  expect(tableOf('Gross')).toEqual([[gross, refunded, charged_back, fees, net]]);
});
