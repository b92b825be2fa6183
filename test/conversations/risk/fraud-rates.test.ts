/** The fraud rate of connections: charged back as fraud ÷ captured, and what it does to the exemption `transaction_risk`. */
import { expect, test } from 'vitest';
import { foldProjections } from '../../../src/core/projections/projections.ts';
import { computeFraudRates } from '../../../src/core/risk/fraud-rates.ts';
import { cardSalesOf } from '../../support/dialect.ts';
import { openShop } from '../../support/gateway.ts';

const shop = openShop({ simulator: true });

const compute = async () => {
  await foldProjections(shop.gateway);
  await computeFraudRates(shop.gateway);
  const { status, body } = await shop.admin('GET', '/risk/fraud-rates');
  expect(status).toBe(200);
  return body;
};

test('a rate above the limit stops the exemption at this connection, until the chargeback is won', async () => {
  const merchant = await shop.newMerchant({
    dialect: { card_sales: true },
    risk: { transaction_risk_limit: { USD: '500.00' }, fraud_rate_limit: '0.13' },
  });
  const rule = {
    mid: merchant.mid,
    name: 'Low risk',
    condition: { field: 'brand', op: '=', value: 'card' },
    action: { kind: 'exempt', reason: 'transaction_risk' },
    state: 'on',
  };
  expect((await shop.admin('POST', '/risk/rules', rule)).status).toBe(201);
  const sales = cardSalesOf(shop, () => merchant);
  const sell = async (order_amount: string) => {
    const { body } = await sales({ order_amount });
    expect(body.status).toBe('SETTLED');
    return { id: body.trans_id, asked: (await shop.inspect(body.trans_id)).risk.three_ds.reason };
  };
  const { id, asked } = await sell('400.00');
  expect(asked).toBe('transaction_risk');
  await sell('600.00');
  const report = (reason: string, state = 'open') =>
    shop.rows(`insert into chargebacks (mid, payment_id, amount, received_at, respond_by, state, changed_at, stage, reason)
      values ('${merchant.mid}', '${id}', 130, now(), now(), '${state}', now(), 'chargeback', '${reason}')
      on conflict (mid, payment_id) do update set amount = 131, reason = excluded.reason, state = excluded.state`);

  // 1.30 of 1000.00 is the limit itself.
  await report('Fraudulent');
  const { items, bands } = await compute();
  expect(items).toMatchObject([
    { connector: 'upstream', currency: 'USD', captured: '1000.00', fraud: '1.30', percent: '0.1300' },
  ]);
  expect(bands[0]).toEqual({ up_to: '100.00', currency: 'EUR', percent: '0.13' });
  expect((await sell('1.00')).asked).toBe('transaction_risk');

  await report('10.4');
  await compute();
  expect((await sell('1.00')).asked).toBeNull();
  const tried = async () => {
    const payment = { brand: 'card', amount: '1.00', currency: 'USD' };
    return (await shop.admin('POST', '/risk/try', { mid: merchant.mid, payment })).body.three_ds.reason;
  };
  expect(await tried()).toBeNull();

  // A chargeback for another reason is no fraud, and neither is one that was won.
  await report('Goods not received');
  await compute();
  expect(await tried()).toBe('transaction_risk');
  expect((await sell('1.00')).asked).toBe('transaction_risk');
  await report('Fraudulent', 'won');
  expect((await compute()).items).toMatchObject([{ fraud: '0.00', percent: '0.0000' }]);
  expect((await sell('1.00')).asked).toBe('transaction_risk');
});

test('the limit is a percentage', async () => {
  const { mid } = shop.merchant;
  const { status, body } = await shop.admin('PATCH', `/accounts/${mid}`, { 'risk.fraud_rate_limit': '1 in 100' });
  expect([status, body.errors[0].error_message]).toEqual([400, expect.stringContaining('a percentage such as 0.13')]);
});
