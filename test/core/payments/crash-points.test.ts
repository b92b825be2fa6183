/** Crash points: a process dies before or after each commit and each call; another one brings all sides to agreement. */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Turnpike } from '../../../client/src/index.ts';
import { newMasterKey } from '../../../src/lib/crypto/seal.ts';
import { verifyAt } from '../../../src/store/installation/verify.ts';
import { type MerchantServer, startMerchantServer } from '../../chaos/merchant-server.ts';
import {
  callbackDisagreements,
  LEDGER_PAYMENTS,
  type LedgerPayment,
  ledgerDisagreements,
  readLedger,
  STORED_CALLBACKS,
  type StoredCallback,
} from '../../support/agreement.ts';
import { type Act, OPERATIONS } from '../../support/crash-operations.ts';
import { type CrashingProcess, type CrashPoint, startCrashingProcess } from '../../support/crashing-process.ts';
import { type Front, startFront } from '../../support/front.ts';
import { type Merchant, startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { shortenLimits } from '../../support/limits.ts';
import { sized } from '../../support/size.ts';

const SUBMISSION = ['payments.open', 'provider.submit', 'payments.transition'];
const OPERATION = ['payments.transition', 'provider.operate', 'payments.transition 2'];
const CARD_SUBMISSION = ['cards.insert', 'payments.collect', 'directory.authenticate', ...SUBMISSION.slice(1)];

/** The commits and calls of each operation, in their order. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  sale: SUBMISSION,
  'card sale': ['cards.insertFingerprintKey', 'payments.open', 'directory.authenticate', ...SUBMISSION.slice(1)],
  'card sale with a token': [
    ...['cards.insertFingerprintKey', 'cards.insertDataKey', 'payments.open', 'directory.authenticate'],
    ...SUBMISSION.slice(1),
  ],
  'page payment by card': [
    ...['cardAttempts.insert', 'cards.insertFingerprintKey', 'cards.insertDataKey'],
    ...CARD_SUBMISSION,
  ],
  'second attempt on the page': ['cardAttempts.insert', 'payments.open', ...CARD_SUBMISSION],
  '3DS continuation': ['payments.transition', 'provider.submit', 'payments.transition 2'],
  capture: OPERATION,
  void: OPERATION,
  refund: OPERATION,
  'recurring sale': SUBMISSION,
  'retry of a declined repetition': ['payments.open', 'payments.open 2', 'provider.submit', 'payments.transition'],
  'schedule charge': [
    ...['schedules.claimDue', ...SUBMISSION, 'schedules.proceed', 'schedules.claimDue 2'],
    ...['cards.eraseLeftovers', 'walletTokens.forget'],
  ],
  'callback delivery': ['callbacks.claimDue', 'merchant.send', 'callbacks.record', 'callbacks.claimDue 2'],
  notification: ['notifications.keep', 'payments.transition', 'notifications.finish'],
};

/** How often a payer pays in the end; once unless it is listed. */
const CHARGES: Readonly<Record<string, number>> = {
  ...{ void: 0, 'recurring sale': 2, 'retry of a declined repetition': 2, 'schedule charge': 3 },
};

const DAY = 86_400;
/** Longer than an authorisation, a session and every retry. */
const REST_SECONDS = 30 * DAY;

const masterKey = newMasterKey();
let shop: TestGateway;
let receiver: MerchantServer;
let front: Front;
let process: CrashingProcess | undefined;
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true, masterKey, logLevel: 'error' });
  [receiver, front] = await Promise.all([startMerchantServer(), startFront()]);
  shop.gateway.inboundUrl = front.url;
});
afterEach(async () => {
  await process?.close();
  process = undefined;
});
// A repeat waits for the process that is dead.
shortenLimits({ duplicateWaitMs: 200 });
afterAll(async () => {
  await shop.close();
  await receiver.close();
  await front.close();
});

async function newMerchant(): Promise<Merchant> {
  const merchant = await shop.newMerchant({ requests_per_second: 0, dialect: { card_sales: true } });
  const { mid, client_key, merchant_key, password, callback_secret } = merchant as Merchant & Record<string, string>;
  await shop.admin('PATCH', `/accounts/${mid}`, { callback_url: receiver.urlFor(mid) });
  const keys = { clientKey: client_key, merchantKey: merchant_key, password, callbackSecret: callback_secret ?? '' };
  receiver.addAccount(mid, new Turnpike({ url: shop.url, ...keys }));
  return merchant;
}

/** Prepares an operation in a new process, and carries it out until the process dies, or to its end. */
async function carryOut(name: string, merchant: Merchant, point?: CrashPoint): Promise<Act> {
  process = await startCrashingProcess(shop, masterKey);
  process.gateway.publicUrl = shop.url;
  process.gateway.inboundUrl = front.url;
  front.target = process.url;
  const act = (await OPERATIONS[name]?.({ shop, merchant, process })) as Act;
  process.arm(point);
  // What the dead process would answer is lost.
  const acted = act(process).catch((error) => (process?.isDead ? undefined : Promise.reject(error)));
  await Promise.race([acted, process.died]);
  // The last steps may follow the answer.
  await expect.poll(() => process?.isDead || isDeepStrictEqual(process?.steps, STEPS[name])).toBe(true);
  front.target = shop.url;
  return act;
}

interface Rest {
  wrong: string[];
  /** The number of payments that took money. */
  charges: number;
}

/** Lets the living process do everything that is due; returns what is wrong afterwards. */
async function comeToRest({ mid }: Merchant): Promise<Rest> {
  await shop.advanceClock(REST_SECONDS, mid);
  await expect.poll(() => front.open).toBe(0);
  await shop.advanceClock(DAY, mid);
  const rows = async <Row>(sql: string): Promise<Row[]> => (await shop.rows(`${sql} where mid = '${mid}'`)) as Row[];
  const payments = await rows<LedgerPayment>(LEDGER_PAYMENTS);
  const movements = await readLedger(async (path) => (await shop.sandbox('GET', path)).body);
  const wrong = [
    ...ledgerDisagreements(
      payments,
      movements.filter((movement) => movement.mid === mid),
    ),
    ...payments.filter(({ attention }) => attention !== null).map(({ id, attention }) => `${id} has ${attention}`),
    ...callbackDisagreements(await rows<StoredCallback>(STORED_CALLBACKS), receiver.processed),
  ];
  return { wrong, charges: payments.filter(({ captured }) => captured !== '0').length };
}

const points = (name: string): (CrashPoint & { isRepeated: boolean })[] =>
  (STEPS[name] ?? []).flatMap((step) =>
    (['before', 'after'] as const).flatMap((when) => [true, false].map((isRepeated) => ({ step, when, isRepeated }))),
  );
/** One of this many points. */
const EVERY = sized(40, 1);

describe.each(Object.keys(OPERATIONS))('%s', (name) => {
  test('has these commits and calls', async () => {
    const merchant = await newMerchant();
    await carryOut(name, merchant);
    expect(process?.steps).toEqual(STEPS[name]);
    expect(await comeToRest(merchant)).toEqual({ wrong: [], charges: CHARGES[name] ?? 1 });
  });

  const offset = Object.keys(OPERATIONS).indexOf(name);
  test.each(points(name).filter((_, index) => (index + offset) % EVERY === 0))(
    'killed $when $step, repeated: $isRepeated',
    async ({ isRepeated, ...point }) => {
      const merchant = await newMerchant();
      const act = await carryOut(name, merchant, point);
      expect(process?.isDead).toBe(true);
      if (isRepeated) expect((await act(shop))?.status ?? 200).toBeLessThan(500);
      const { wrong, charges } = await comeToRest(merchant);
      expect(wrong).toEqual([]);
      expect(charges).toBeLessThanOrEqual(CHARGES[name] ?? 1);
      // A payer who was not charged can pay again; a schedule has to make every charge by itself.
      if (name === 'schedule charge') expect(charges).toBe(CHARGES[name]);
    },
  );
});

test('every invariant of the database holds, and every callback was valid', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
  expect(receiver.invalid).toEqual([]);
});
