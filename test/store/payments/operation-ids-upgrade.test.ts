/** The migration of credits from before operations had a content and an order. */
import { expect, test } from 'vitest';
import { migrateAt } from '../../../src/store/database/migrate.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { checkoutOf, creditFields } from '../../support/checkout.ts';
import { openShop } from '../../support/gateway.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);

test('credits get their order, their callbacks the type of a refund, and bodies do not change', async () => {
  const { merchant } = shop;
  const { orderId, token } = await checkout.paidByCard({}, merchant);
  const own = creditFields({ order_amount: '1.00', card_token: token });
  const ofSale = creditFields({ order_id: orderId, order_amount: '2.00', card_token: token });
  const ids: string[] = [];
  for (const fields of [own, ofSale]) {
    ids.push((await checkout.send('payment/card/credit', fields, merchant)).body.operation_id);
  }
  const bodies = () => shop.rows('select seq, body from callbacks order by seq');
  const before = await bodies();
  await shop.rows(`
    alter table operations drop column content, drop column order_id;
    update callbacks set type = 'credit' where type = 'refund';
    delete from migrations where name = '0010_operation_ids.sql'`);
  expect(await migrateAt(shop.connection)).toEqual(['0010_operation_ids.sql']);
  const rows = await shop.rows('select operation_id, order_id, content from operations order by amount');
  expect(rows).toEqual([
    { operation_id: ids[0], order_id: own.order_id, content: null },
    { operation_id: ids[1], order_id: null, content: null },
  ]);
  expect(await shop.rows(`select distinct type from callbacks order by 1`)).toEqual([
    { type: 'refund' },
    { type: 'sale' },
  ]);
  expect(await bodies()).toEqual(before);
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
