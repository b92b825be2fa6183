/** The callback of a credit, in both protocols: a refund with the order of the credit. */
import { expect, test } from 'vitest';
import { composeCallback } from '../../../src/core/callbacks/compose.ts';
import type { OperationRow, PaymentWithDetails } from '../../../src/core/context.ts';
import { newId } from '../../../src/lib/crypto/id.ts';
import { openShop, sign } from '../../support/gateway.ts';

const shop = openShop();

/** The fields of the callback of a credit of 4.00 that is done. */
async function callbackFieldsOf(protocol: PaymentWithDetails['protocol'], orderId: string | null) {
  const { merchant } = shop;
  const { body } = await shop.sale({}, merchant);
  const key = { mid: merchant.mid, paymentId: body.trans_id };
  const payment = { ...((await shop.gateway.payments.find(key)) as PaymentWithDetails), protocol };
  const now = shop.gateway.clock.now(merchant.mid);
  const times = { requestedAt: now, finishedAt: now, dueAt: null };
  const operation: OperationRow = {
    ...{
      ...key,
      ...times,
      operationId: newId(),
      connector: 'vcard',
      verb: 'credit',
      amount: 400n,
      content: null,
      orderId,
    },
    requestedBy: null,
    ...{ state: 'done', reason: null, providerReference: null, providerState: null, queryCount: 0 },
  };
  const transition = { before: payment, after: payment, actor: 'provider', call: undefined, operation } as const;
  const callback = await composeCallback(shop.gateway, { ...transition, event: 'partlyRefunded' }, undefined);
  const fields = Object.fromEntries(new URLSearchParams(callback?.body));
  return { type: callback?.type, fields, orderId: payment.orderId, password: merchant.password };
}

test('for /post: order_id is that of the credit, and the hash covers it', async () => {
  const { type, fields, password } = await callbackFieldsOf('s2s', 'credit-1');
  expect(type).toBe('refund');
  expect(fields).toMatchObject({ action: 'CREDITVOID', result: 'SUCCESS', order_id: 'credit-1', amount: '4.00' });
  expect(fields.hash).toBe(sign(password, fields.trans_id as string, 'credit-1', 'SETTLED'));
});

test('for Checkout: order_number is that of the credit, and the hash covers it', async () => {
  const { type, fields, password } = await callbackFieldsOf('checkout', 'credit-2');
  expect(type).toBe('refund');
  expect(fields).toMatchObject({
    type: 'refund',
    status: 'success',
    order_number: 'credit-2',
    operation_amount: '4.00',
  });
  // Receivers of the family take a field of that name for the amount of the order.
  expect(fields).not.toHaveProperty('amount');
  const { id, order_amount, order_currency, order_description } = fields as Record<string, string>;
  expect(fields.hash).toBe(
    sign(password, ...([id, 'credit-2', order_amount, order_currency, order_description] as string[])),
  );
});

test('a credit without its own order has that of the payment', async () => {
  const s2s = await callbackFieldsOf('s2s', null);
  expect(s2s.fields.order_id).toBe(s2s.orderId);
  const checkout = await callbackFieldsOf('checkout', null);
  expect(checkout.fields.order_number).toBe(checkout.orderId);
});
