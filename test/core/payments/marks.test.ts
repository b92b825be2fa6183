/** A payment shows the strongest of its marks, until what each one is about is decided or resolved. */
import { afterAll, describe, expect, test } from 'vitest';
import { receiveNotifications } from '../../../src/core/payments/notifications.ts';
import { newId } from '../../../src/lib/crypto/id.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { openShop } from '../../support/gateway.ts';
import { scriptProvider } from '../../support/scripted-provider.ts';

const provider = scriptProvider();
const shop = openShop({ connectors: { vcard: provider.connector } });

afterAll(async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});

/** The provider sends a notification. */
const tell = (reference: string, body: Record<string, unknown>): Promise<void> =>
  receiveNotifications(shop.gateway, 'vcard', [{ eventId: newId(), reference, body: { ...body, reference } }]);
const settled = (id: string, more: Record<string, unknown> = {}) =>
  tell(id, { type: 'payment', status: 'settled', amount: '1000', currency: 'USD', ...more });
const markOf = async (id: string): Promise<string | null> => (await shop.inspect(id)).attention;
const decide = (id: string, resolve: string) => shop.admin('POST', `/payments/${id}/attention`, { resolve });

async function sale(status: 'SETTLED' | 'DECLINED', fields = {}): Promise<string> {
  const providerReference = `at-provider-${newId()}`;
  if (status === 'SETTLED') provider.does({ submit: () => ({ kind: 'settled', providerReference }) });
  else provider.does({ submit: () => ({ kind: 'declined', reason: 'No.' }) });
  const { body } = await shop.sale(fields);
  expect(body).toMatchObject({ status });
  provider.does({});
  return body.trans_id;
}

/** A payment that was declined, and that the provider reports as paid afterwards. */
async function lateSuccess(): Promise<string> {
  const id = await sale('DECLINED');
  await settled(id);
  expect(await markOf(id)).toBe('late_success');
  return id;
}

describe('a late success', () => {
  test('stays marked after a report with a wrong amount, and is accepted with the amount of the payment', async () => {
    const id = await lateSuccess();
    await settled(id, { amount: '1001' });
    expect(await markOf(id)).toBe('late_success');
    expect((await decide(id, 'accept')).body).toMatchObject({ status: 'SETTLED', captured: '10.00', attention: null });
  });

  test('of a payment that was paid twice stays marked after a chargeback and its reversal', async () => {
    const id = await sale('SETTLED');
    await settled(id, { id: 'another-payment' });
    for (const [type, status] of [
      ['chargeback', 'CHARGEBACK'],
      ['chargeback_reversed', 'SETTLED'],
    ]) {
      await tell(id, { type });
      expect(await shop.inspect(id)).toMatchObject({ status, attention: 'late_success' });
    }
  });

  test('is marked again once the chargeback of it is reversed', async () => {
    const id = await lateSuccess();
    await tell(id, { type: 'chargeback' });
    expect(await markOf(id)).toBe('unexpected_chargeback');
    await tell(id, { type: 'chargeback_reversed' });
    expect(await markOf(id)).toBe('late_success');
    await decide(id, 'dismiss');
    expect(await markOf(id)).toBeNull();
  });

  test('is not marked again once the money was sent back', async () => {
    const id = await lateSuccess();
    await decide(id, 'refund');
    for (const type of ['chargeback', 'chargeback_reversed']) await tell(id, { type });
    expect(await markOf(id)).toBeNull();
  });
});
