/** Reservations of credits while other requests withdraw theirs. */
import { expect, test } from 'vitest';
import { newId } from '../../../src/lib/crypto/id.ts';
import type { CreditRow } from '../../../src/store/payments/credits.ts';
import { newOrderId, openShop } from '../../support/gateway.ts';

const shop = openShop();

test('a reservation is returned although another one is withdrawn at the same moment', async () => {
  const { credits } = shop.gateway;
  const reservation = (orderId: string): CreditRow => ({
    ...{ mid: shop.merchant.mid, orderId, part: '', fingerprint: 'x', operationId: newId(), createdAt: Date.now() },
  });
  for (let round = 0; round < 300; round++) {
    const orderId = newOrderId();
    const [first, second, third] = [reservation(orderId), reservation(orderId), reservation(orderId)];
    await credits.reserve(first);
    const [reserved, other] = await Promise.all([
      credits.reserve(second),
      credits.reserve(third),
      credits.withdraw(first),
    ]);
    for (const found of [reserved, other]) expect(found).toMatchObject({ orderId });
  }
});
