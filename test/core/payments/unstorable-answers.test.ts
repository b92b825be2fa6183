/** Answers of a provider with characters that PostgreSQL cannot store: their outcome counts, and their texts are stored without these. */
import { expect, test } from 'vitest';
import type { Outcome } from '../../../src/connectors/connector.ts';
import { Secret } from '../../../src/lib/crypto/secret.ts';
import { BRAND_EXPECTATIONS } from '../../support/brand-expectations.ts';
import { type Answer, openShop, saleFields } from '../../support/gateway.ts';
import { scriptProvider } from '../../support/scripted-provider.ts';

const provider = scriptProvider();
const [NUL, HALF] = ['\0', '\ud83d'];
const REPLACED = '\ufffd';
const TEXT = `a${NUL}b${HALF}c🍵`;
const STORED = `a${REPLACED}b${REPLACED}c🍵`;

let notified = '';
const shop = openShop({
  connectors: {
    upstream: {
      ...provider.connector,
      readNotifications: () => [
        {
          eventId: `evt ${notified}`,
          reference: notified,
          body: { type: 'payment', status: 'settled', amount: '1000', currency: 'USD', [TEXT]: [TEXT] },
        },
      ],
    },
  },
});

const sale = (): Promise<Answer> =>
  shop.post(saleFields(shop.merchant, { brand: 'pin-a', identifier: '', ...BRAND_EXPECTATIONS['pin-a']?.complete }));

const answers: [string, Outcome, string, object][] = [
  ['the reason of a decline', { kind: 'declined', reason: TEXT }, 'DECLINED', { decline_reason: STORED }],
  ['an id', { kind: 'settled', providerReference: TEXT }, 'SETTLED', { provider_reference: STORED }],
  [
    'what is stored for later calls',
    { kind: 'settled', state: { [TEXT]: [{ id: TEXT }] }, secretState: { id: TEXT }, networkTransactionId: TEXT },
    'SETTLED',
    {},
  ],
  ['a token', { kind: 'settled', paymentMethod: new Secret(TEXT) }, 'SETTLED', {}],
  ['where the payer goes', redirect({ [TEXT]: TEXT }), 'REDIRECT', {}],
  ['instructions', { kind: 'accepted', instructions: { [TEXT]: TEXT } }, 'PENDING', {}],
  ['a currency', { kind: 'settled', reportedAmount: { amount: 5n, currency: TEXT } }, 'PENDING', {}],
  ['a new status', { kind: 'unknown', newStatus: TEXT }, 'PENDING', {}],
];

function redirect(params: Record<string, string>): Outcome {
  return { kind: 'redirected', url: 'https://bank.example/', method: 'POST', params };
}

test.each(answers)('%s', async (_, outcome, status, shown) => {
  provider.does({ submit: () => outcome });
  const { status: code, body } = await sale();
  expect([code, body.status]).toEqual([200, status]);
  expect(await shop.inspect(body.trans_id)).toMatchObject({ status, ...shown });
  expect(provider.calls(body.trans_id)).toEqual(['submit']);
});

test('the message of an error', async () => {
  provider.does({ submit: () => JSON.parse(NUL) });
  const { status, body } = await sale();
  expect([status, body.status]).toEqual([200, 'PENDING']);
  expect((await shop.inspect(body.trans_id)).provider_calls[0].reason).toContain(REPLACED);
});

test('the outcome of an operation', async () => {
  provider.does({
    operate: () => ({ kind: 'declined', reason: TEXT, operationReference: TEXT, operationState: { [TEXT]: TEXT } }),
  });
  const { body } = await sale();
  const refund = await shop.admin('POST', `/payments/${body.trans_id}/refund`, { amount: '1.00' });
  expect(refund.status).toBe(200);
  expect((await shop.inspect(body.trans_id)).operations).toMatchObject([{ state: 'declined', reason: STORED }]);
});

test('a notification', async () => {
  provider.does({ submit: () => ({ kind: 'accepted' }), query: () => ({ kind: 'accepted' }) });
  notified = (await sale()).body.trans_id;
  expect((await fetch(`${shop.url}/inbound/upstream`, { method: 'POST', body: '{}' })).status).toBe(200);
  expect((await shop.inspect(notified)).status).toBe('SETTLED');
});
