/** Card testing: limits per session, per address and per account stop attempts with stolen cards. */
import { describe, expect, test, vi } from 'vitest';
import type { Connector } from '../../src/connectors/connector.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import {
  checkoutOf,
  choices,
  type FetchedPage,
  fill,
  inputs,
  type Session,
  SUCCESS_URL,
  show,
  VCARD,
} from '../support/checkout.ts';
import { type Fields, type Merchant, openShop, startTestGateway } from '../support/gateway.ts';
import { holdRates } from '../support/hold-rates.ts';
import { allowBursts } from '../support/limits.ts';

allowBursts();

const shop = openShop({ simulator: true, trustedProxies: ['127.0.0.1'] });
const checkout = checkoutOf(shop);

const card = (card_number: string, card_expiry = '01/38'): Fields => ({
  ...{ method: 'card', card_number, card_expiry, card_cvv: '123', card_holder: 'Ada Byron' },
});
const GOOD = card('4111111111111111');
const DECLINED = card('4000000000000002');
/** The payer is redirected to the bank’s page, and pays there. */
const REDIRECTED = card('4111111111111111', '12/38');

const ADDRESS = '198.51.100.1';
const OTHER_ADDRESS = '203.0.113.9';

const submit = ({ url }: Pick<Session, 'url'>, form: Fields, from = ADDRESS): Promise<FetchedPage> =>
  show(url, { method: 'POST', body: new URLSearchParams(form), headers: { 'x-forwarded-for': from } });
/** Submits cards in sequence and returns the status of each response. */
async function submitCards(session: Session, forms: Fields[], from = ADDRESS): Promise<number[]> {
  const statuses: number[] = [];
  for (const form of forms) statuses.push((await submit(session, form, from)).status);
  return statuses;
}
const times = <Value>(count: number, value: Value): Value[] => Array<Value>(count).fill(value);
const open = (merchant: Merchant, methods = ['card', 'vcard']): Promise<Session> =>
  checkout.open({ methods }, merchant);
/** An attempt in a session of its own. */
const tryOnce = async (merchant: Merchant, form: Fields, from = ADDRESS): Promise<FetchedPage> =>
  submit(await open(merchant), form, from);
const attemptsOf = ({ orderId }: Session, merchant: Merchant) => checkout.attempts(orderId, merchant);
const refusals = async (limit: string): Promise<number> => {
  const text = await (await fetch(`${shop.url}/metrics`)).text();
  return Number(
    new RegExp(`^turnpike_card_attempts_refused_total{limit="${limit}"} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
  );
};
const storedCards = async ({ mid }: Merchant): Promise<unknown> =>
  (await shop.rows(`select count(*)::int as cards from cards where mid = '${mid}'`))[0]?.cards;

describe('a session', () => {
  test('accepts ten cards; the eleventh is not checked, not stored and not submitted', async () => {
    const merchant = await shop.newMerchant({ card_tries_per_session: 10 });
    const session = await open(merchant);
    const before = await refusals('session');
    expect(await submitCards(session, times(10, DECLINED))).toEqual(times(10, 303));
    const attempts = await attemptsOf(session, merchant);
    expect(attempts).toHaveLength(10);

    const { status, text, headers } = await submit(session, GOOD);
    expect(status).toBe(429);
    expect(text).toContain('No more cards can be tried for this order');
    expect(text).toContain('This card was not used, and no money was taken.');
    expect(headers.get('retry-after')).toBeNull();
    expect(await attemptsOf(session, merchant)).toEqual(attempts);
    expect(await storedCards(merchant)).toBe(10);
    expect(await refusals('session')).toBe(before + 1);
    const line = shop.logs.map((text) => JSON.parse(text)).findLast(({ msg }) => msg === 'card attempt refused');
    expect(line).toMatchObject({ level: 'warn', mid: merchant.mid, payment_id: attempts[0], limit: 'session' });
  });

  test('offers the other payment methods after its last card attempt, and one of them pays', async () => {
    const merchant = await shop.newMerchant({ card_tries_per_session: 2 });
    const session = await checkout.open({ methods: ['card', 'vcard', 'doc-a'] }, merchant);
    await submitCards(session, [DECLINED]);
    expect(choices((await show(session.url)).text)).toEqual(['card', 'vcard', 'doc-a']);
    await submitCards(session, [DECLINED]);
    const page = await show(session.url);
    expect([page.status, choices(page.text)]).toEqual([200, ['vcard', 'doc-a']]);
    expect(page.text).toContain('No more cards can be tried for this order');
    // The first of the other methods is open.
    expect(inputs((await show(`${session.url}?method=card`)).text)).toEqual(['identifier']);
    expect((await submit(session, GOOD)).text).toContain('Choose another way to pay');
    expect(await fill(session.url, VCARD.success)).toMatchObject({ status: 303, location: SUCCESS_URL });
  });

  test('ends after its last attempt when it accepts cards only', async () => {
    const merchant = await shop.newMerchant({ card_tries_per_session: 1 });
    const session = await open(merchant, ['card']);
    expect(await submitCards(session, [DECLINED, GOOD])).toEqual([303, 429]);
    const { text } = await show(session.url);
    expect(text).toContain('No money was taken');
    expect([inputs(text), text.includes('<form')]).toEqual([[], false]);
    expect((await submit(session, GOOD)).text).not.toContain('another way');
  });

  test('does not count against another session', async () => {
    const merchant = await shop.newMerchant({ card_tries_per_session: 1 });
    expect(await submitCards(await open(merchant), [DECLINED, GOOD])).toEqual([303, 429]);
    expect(await tryOnce(merchant, GOOD)).toMatchObject({ status: 303, location: SUCCESS_URL });
  });

  test('shows the refusal in the language of the payer, or of the account', async () => {
    const german = { 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' };
    const body = new URLSearchParams(DECLINED);
    const refusalText = async (locale: string): Promise<string> => {
      const merchant = await shop.newMerchant({ card_failures_per_address: 1, locale });
      const { url } = await open(merchant);
      await show(url, { method: 'POST', body });
      return (await show(url, { method: 'POST', body, headers: german })).text;
    };
    expect(await refusalText('')).toContain(
      'Diese Karte wurde nicht verwendet, und es wurde kein Geld abgebucht. Wartezeit: 10 Minuten',
    );
    expect(await refusalText('es')).toContain(
      'Esta no se ha usado y no se ha cobrado nada. Tiempo de espera: 10 minutos',
    );
  });

  test('counts neither invalid cards nor other payment methods', async () => {
    const merchant = await shop.newMerchant({ card_tries_per_session: 1, card_failures_per_address: 1 });
    const session = await open(merchant);
    const wrong = [card('4111111111111112'), card(''), card('4111111111111111', '01/20'), { method: 'card' }];
    expect(await submitCards(session, wrong)).toEqual(times(4, 422));
    expect(await submitCards(session, times(3, VCARD.decline))).toEqual(times(3, 303));
    expect(await submit(session, GOOD)).toMatchObject({ status: 303, location: SUCCESS_URL });
  });

  test('counts ten concurrent submits as one attempt', async () => {
    const merchant = await shop.newMerchant({ card_tries_per_session: 2 });
    const session = await open(merchant);
    const burst = () => Promise.all(times(10, DECLINED).map((form) => submit(session, form)));
    await burst();
    expect((await attemptsOf(session, merchant)).length).toBeLessThanOrEqual(2);
    await burst();
    expect(await attemptsOf(session, merchant)).toHaveLength(2);
    expect((await submit(session, GOOD)).status).toBe(429);
    expect(await storedCards(merchant)).toBe(2);
  });

  test('applies a changed limit at once, and no limit when it is 0', async () => {
    const merchant = await shop.newMerchant({ card_tries_per_session: 2 });
    const session = await open(merchant);
    const change = (most: number) => shop.admin('PATCH', `/accounts/${merchant.mid}`, { card_tries_per_session: most });
    expect(await submitCards(session, times(3, DECLINED))).toEqual([303, 303, 429]);
    await change(3);
    expect(await submitCards(session, times(2, DECLINED))).toEqual([303, 429]);
    await change(0);
    expect(await submitCards(session, times(9, DECLINED))).toEqual(times(9, 303));
    await change(5);
    expect((await submit(session, GOOD)).status).toBe(429);
  });

  test('of an order that is tried again starts from zero', async () => {
    const merchant = await shop.newMerchant({ card_tries_per_session: 1 });
    const first = await open(merchant);
    expect(await submitCards(first, [DECLINED, DECLINED])).toEqual([303, 429]);
    await shop.advanceClock(20, merchant.mid);
    const second = await checkout.open({ methods: ['card'], order: { number: first.orderId } }, merchant);
    expect(await submitCards(second, [DECLINED, GOOD])).toEqual([303, 429]);
  });
});

describe('an address', () => {
  test('is limited after twenty declined cards over any sessions; others are not', async () => {
    const merchant = await shop.newMerchant({ card_failures_per_address: 20 });
    const before = await refusals('address');
    for (let sessions = 0; sessions < 2; sessions++) {
      expect(await submitCards(await open(merchant), times(10, DECLINED))).toEqual(times(10, 303));
    }
    const session = await open(merchant);
    const { status, text, headers } = await submit(session, GOOD);
    expect(status).toBe(429);
    expect(text).toContain('Too many cards were tried. This one was not used, and no money was taken.');
    expect(text).toMatch(/Time to wait: (9|10) minutes/);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(600);
    expect(await refusals('address')).toBe(before + 1);
    expect(await checkout.events(session.id)).toEqual(['opened']);
    expect(await storedCards(merchant)).toBe(20);

    expect((await tryOnce(await shop.newMerchant(), GOOD)).location).toBe(SUCCESS_URL);
    expect((await submit(session, GOOD, OTHER_ADDRESS)).location).toBe(SUCCESS_URL);
  });

  test('may use other payment methods meanwhile', async () => {
    const merchant = await shop.newMerchant({ card_failures_per_address: 1 });
    const session = await open(merchant);
    expect(await submitCards(session, [DECLINED, GOOD])).toEqual([303, 429]);
    expect(choices((await show(session.url)).text)).toContain('vcard');
    expect(await submit(session, VCARD.success)).toMatchObject({ status: 303, location: SUCCESS_URL });
  });

  test('may try again when each attempt is ten minutes old', async () => {
    const merchant = await shop.newMerchant({ card_failures_per_address: 2 });
    const session = await open(merchant);
    const advance = (seconds: number) => shop.advanceClock(seconds, merchant.mid);
    await submitCards(session, [DECLINED]);
    await advance(300);
    expect(await submitCards(session, times(2, DECLINED))).toEqual([303, 429]);
    const { headers } = await submit(session, DECLINED);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(300);
    await advance(301);
    expect(await submitCards(session, times(2, DECLINED))).toEqual([303, 429]);
    await advance(601);
    expect((await submit(session, GOOD)).location).toBe(SUCCESS_URL);
  });

  test('is not limited by successful payments', async () => {
    const merchant = await shop.newMerchant({ card_failures_per_address: 2 });
    for (let sales = 0; sales < 4; sales++) expect((await tryOnce(merchant, GOOD)).location).toBe(SUCCESS_URL);
    expect(await submitCards(await open(merchant), [DECLINED, DECLINED, GOOD])).toEqual([303, 303, 429]);
  });

  test('counts an attempt from its start, and no longer once it has paid', async () => {
    const merchant = await shop.newMerchant({ card_failures_per_address: 1 });
    const { location } = await tryOnce(merchant, REDIRECTED);
    expect(location).toContain(shop.provider?.url);
    expect((await tryOnce(merchant, GOOD)).status).toBe(429);
    await show((await fill(location, { decision: 'approve' })).location);
    expect((await tryOnce(merchant, GOOD)).location).toBe(SUCCESS_URL);
  });

  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', 429],
    ['2001:db8:1:3::1', '2001:db8:1:4::1', 303],
    ['198.51.100.7', '::ffff:198.51.100.7', 429],
    ['198.51.100.8', '198.51.100.9', 303],
  ])('%s and then %s: %i', async (first, second, expected) => {
    const merchant = await shop.newMerchant({ card_failures_per_address: 1 });
    await tryOnce(merchant, DECLINED, first);
    expect((await tryOnce(merchant, GOOD, second)).status).toBe(expected);
  });

  test('has no limit when the account sets 0', async () => {
    const merchant = await shop.newMerchant({ card_failures_per_address: 0, card_tries_per_session: 0 });
    for (let sessions = 0; sessions < 2; sessions++) {
      expect(await submitCards(await open(merchant), times(11, DECLINED))).toEqual(times(11, 303));
    }
  });

  test('is not stored, and its attempts are deleted after a day', async () => {
    const merchant = await shop.newMerchant();
    const address = '192.0.2.77';
    await tryOnce(merchant, DECLINED, address);
    const storedAttempts = () => shop.rows(`select * from card_attempts where mid = '${merchant.mid}'`);
    const [first] = await storedAttempts();
    expect(first).toMatchObject({ attempt: 1, source: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(JSON.stringify(first)).not.toContain(address);
    await shop.advanceClock(86_401, merchant.mid);
    await tryOnce(merchant, DECLINED, address);
    expect(await storedAttempts()).toHaveLength(1);
    expect(await storedAttempts()).not.toContainEqual(first);
    expect(shop.logs.filter((line) => line.includes(address))).toEqual([]);
  });

  test('that submits thirty cards concurrently gets no more accepted than its limit', async () => {
    const merchant = await shop.newMerchant({ card_failures_per_address: 5 });
    const sessions = await Promise.all(times(30, merchant).map((one) => open(one)));
    const passed = (answers: FetchedPage[]): number => answers.filter(({ status }) => status === 303).length;
    const concurrently = passed(await Promise.all(sessions.map((session) => submit(session, DECLINED))));
    expect(concurrently).toBeLessThanOrEqual(5);
    const afterwards = [];
    for (const session of sessions) afterwards.push(await submit(session, DECLINED));
    expect(concurrently + passed(afterwards)).toBe(5);
    expect(await storedCards(merchant)).toBe(5);
  });
});

describe('an account', () => {
  /** An address that no other test uses. */
  let hosts = 0;
  const newAddress = (): string => `2001:db8:0:${(++hosts).toString(16)}::1`;
  const tryFromNewAddress = (merchant: Merchant, form: Fields) => tryOnce(merchant, form, newAddress());
  const submitInSequence = async (merchant: Merchant, forms: Fields[]): Promise<number[]> => {
    const statuses: number[] = [];
    for (const form of forms) statuses.push((await tryFromNewAddress(merchant, form)).status);
    return statuses;
  };

  test('accepts no cards while nearly all are declined, from any address; other accounts do', async () => {
    const merchant = await shop.newMerchant({ card_failures_per_account: 4 });
    const before = await refusals('account');
    expect(await submitInSequence(merchant, [GOOD, ...times(4, DECLINED), GOOD])).toEqual([...times(5, 303), 429]);
    expect(await refusals('account')).toBe(before + 1);
    expect((await tryFromNewAddress(await shop.newMerchant(), GOOD)).location).toBe(SUCCESS_URL);
    const refused = await tryFromNewAddress(merchant, GOOD);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await shop.advanceClock(601, merchant.mid);
    expect((await tryFromNewAddress(merchant, GOOD)).location).toBe(SUCCESS_URL);
  });

  test('is not limited while enough of the newest attempts succeed', async () => {
    const merchant = await shop.newMerchant({ card_failures_per_account: 4 });
    const round = [DECLINED, DECLINED, GOOD, GOOD];
    expect(await submitInSequence(merchant, [...round, ...round, ...round])).toEqual(times(12, 303));
  });

  test('is not limited while its payers are at their banks', async () => {
    const merchant = await shop.newMerchant({ card_failures_per_account: 2 });
    expect(await submitInSequence(merchant, [...times(6, REDIRECTED), GOOD])).toEqual(times(7, 303));
  });

  test('has no limit when the setting is 0', async () => {
    const merchant = await shop.newMerchant({ card_failures_per_account: 0 });
    expect(await submitInSequence(merchant, times(6, DECLINED))).toEqual(times(6, 303));
  });
});

describe('an account without limits of its own', () => {
  test('may test any number of declined cards in the sandbox', async () => {
    const merchant = await shop.newMerchant();
    // A page accepts at most 20 submits a second, whatever the settings.
    for (let sessions = 0; sessions < 2; sessions++) {
      expect(await submitCards(await open(merchant), times(13, DECLINED))).toEqual(times(13, 303));
    }
    expect((await tryOnce(merchant, GOOD)).location).toBe(SUCCESS_URL);
  });

  test('has the defaults in production', async () => {
    const live = await startTestGateway({ environment: 'production', simulator: true, trustedProxies: ['127.0.0.1'] });
    try {
      const session = await checkoutOf(live).open({ methods: ['card'] }, live.merchant);
      expect(await submitCards(session, times(11, DECLINED))).toEqual([...times(10, 303), 429]);
    } finally {
      await live.close();
    }
  });
});

describe('submit rate limit of a page', () => {
  const flood = ({ url }: Session): Promise<FetchedPage[]> =>
    Promise.all(times(200, url).map((one) => fill(one, { method: 'nothing' })));

  test('refuses submits faster than any person, for a second, and does not affect other pages', async () => {
    const [session, other] = [await open(shop.merchant), await open(shop.merchant)];
    const pass = holdRates();
    const refused = (await flood(session)).filter(({ status }) => status === 429);
    expect(refused).toHaveLength(200 - LIMITS.submitLimit);
    for (const { headers, text } of refused) {
      expect([headers.get('retry-after'), headers.get('content-type')]).toEqual(['1', expect.stringContaining('html')]);
      expect(text).toContain('Nothing was paid.');
    }
    expect((await submit(other, { method: 'nothing' })).status).toBe(303);
    expect((await show(session.url)).status).toBe(200);
    pass(LIMITS.submitWindowMs);
    expect((await submit(session, { method: 'nothing' })).status).toBe(303);
    expect(await checkout.events(session.id)).toEqual(['opened']);
  });

  test('bounds queries to the provider on returns, and serves every returning payer', async () => {
    const { url } = await checkout.atDocA();
    const link = url.slice(url.lastIndexOf('/') + 1);
    const { upstream } = shop.gateway.connectors as { upstream: Connector };
    const query = vi.spyOn(upstream, 'query');
    const returns = await Promise.all(times(200, `${shop.url}/return/${link}`).map((one) => show(one)));
    expect(returns.map(({ status, location }) => [status, location])).toEqual(
      times(200, [303, `/pay/${link}?returned=1`]),
    );
    expect(query.mock.calls.length).toBeGreaterThan(0);
    expect(query.mock.calls.length).toBeLessThan(200);
  });
});
