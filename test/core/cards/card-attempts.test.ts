/** The limits of card attempts are shared by all processes. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../src/lib/crypto/id.ts';
import { addressList } from '../../../src/lib/http/address.ts';
import { createApp } from '../../../src/server/app.ts';
import { checkoutOf, type Session } from '../../support/checkout.ts';
import { ADMIN_TOKEN, type Fields, type Merchant, startTestGateway, type TestGateway } from '../../support/gateway.ts';

let shop: TestGateway;
/** The pages of two processes over one database. */
let processes: ReturnType<typeof createApp>[];
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true });
  const other = await shop.anotherGateway();
  other.publicUrl = shop.url;
  other.inboundUrl = shop.url;
  processes = [shop.gateway, other].map((gateway) =>
    createApp(gateway, {
      isTrustedProxy: addressList([]),
      takesRequests: true,
      adminTokenDigest: createHash('sha256').update(ADMIN_TOKEN).digest(),
    }),
  );
});
afterAll(async () => {
  await Promise.all(processes.map((app) => app.close()));
  await shop.close();
});

const DECLINED: Fields = {
  ...{ method: 'card', card_number: '4000000000000002', card_expiry: '01/38', card_cvv: '123', card_holder: 'Ada B' },
};

const open = (merchant: Merchant): Promise<Session> => checkoutOf(shop).open({ methods: ['card'] }, merchant);

/** Submits the card to the processes in turn; returns the HTTP status. */
async function submitCard({ url }: Session, turn: number): Promise<number | undefined> {
  const { statusCode } = (await processes[turn % 2]?.inject({
    method: 'POST',
    url: new URL(url).pathname,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(DECLINED).toString(),
  })) ?? { statusCode: undefined };
  return statusCode;
}

async function inTurn(sessions: Session[]): Promise<(number | undefined)[]> {
  const statuses = [];
  for (const [turn, session] of sessions.entries()) statuses.push(await submitCard(session, turn));
  return statuses;
}

test('an attempt that is stored twice at once is new once', async () => {
  const { mid } = shop.merchant;
  const attempt = { mid, orderId: 'twice', attempt: 1, sessionId: newId(), source: 'a', at: Date.now() };
  const { cardAttempts } = shop.gateway;
  const stored = await Promise.all(
    [attempt, { ...attempt, attempt: 2 }, attempt].map((one) => cardAttempts.insert(one, 0)),
  );
  expect(stored).toEqual([true, true, false]);
  expect(await cardAttempts.ofSession(attempt)).toBe(2);
});

test('counts the attempts of a session across processes', async () => {
  const session = await open(await shop.newMerchant({ card_tries_per_session: 3 }));
  expect(await inTurn(Array(5).fill(session))).toEqual([303, 303, 303, 429, 429]);
});

test('counts the failures of an address across processes', async () => {
  const merchant = await shop.newMerchant({ card_failures_per_address: 3 });
  const sessions = await Promise.all(Array.from({ length: 5 }, () => open(merchant)));
  expect(await inTurn(sessions)).toEqual([303, 303, 303, 429, 429]);
});

test('counts the failures of an account across processes', async () => {
  const merchant = await shop.newMerchant({ card_failures_per_account: 3, card_failures_per_address: 0 });
  const sessions = await Promise.all(Array.from({ length: 5 }, () => open(merchant)));
  expect(await inTurn(sessions)).toEqual([303, 303, 303, 429, 429]);
});

test('thirty concurrent cards never exceed the limit', async () => {
  for (let round = 0; round < 3; round++) {
    const merchant = await shop.newMerchant({ card_failures_per_address: 4 });
    const sessions = await Promise.all(Array.from({ length: 30 }, () => open(merchant)));
    const statuses = await Promise.all(sessions.map(submitCard));
    const passed = statuses.filter((status) => status === 303).length;
    expect(passed).toBeLessThanOrEqual(4);
    // Refused attempts are not counted, so exactly the rest of the limit can still be used.
    const rest = (await inTurn(sessions)).filter((status) => status === 303).length;
    expect(passed + rest).toBe(4);
    const [counted] = await shop.rows(
      `select count(*)::int as attempts from card_attempts where mid = '${merchant.mid}'`,
    );
    expect(counted).toEqual({ attempts: 4 });
  }
});
