/** Payers' own pages: a one-time link by e-mail, the saved cards and subscriptions, and removing them. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { processEverythingDue } from '../../src/core/due/due.ts';
import { LANGUAGES } from '../../src/pages/locales/index.ts';
import { type Body, cardForm, checkoutOf, fill, show } from '../support/checkout.ts';
import { type Fields, type Merchant, openShop, sign, startTestGateway } from '../support/gateway.ts';
import { partsOf, type ReceivedMail, startMailServer, type TestMailServer } from '../support/mail.ts';
import { expectSafe, policyOf, readable } from '../support/pages.ts';

const mail = { url: '', from: 'receipts@pay.example' };
let server: TestMailServer;
beforeAll(async () => {
  server = await startMailServer();
  mail.url = server.url;
});
afterAll(() => server.stop());
const shop = openShop({ simulator: true, mail });
const checkout = checkoutOf(shop);
const HOUR = 3600;

let merchant: Merchant;
let pageUrl: string;
beforeEach(async () => {
  server.behaviour = 'accepts';
  server.mails.length = 0;
  merchant = await shop.newMerchant({ receipts: 'email', branding: { name: 'Tea & Sons' } });
  pageUrl = `${shop.url}/customer/${merchant.mid}`;
});

const ADA = 'ada@example.com';
const customer = (email: string): Body => ({ customer: { name: 'Ada Byron', email } });
const work = () => processEverythingDue(shop.gateway);
const textOf = (received: ReceivedMail): string => partsOf(received).get('text/plain') ?? '';
const linkIn = (received: ReceivedMail | undefined): string =>
  /http\S+\/customer\/\S+\/link\/[0-9a-f]{64}/.exec(received ? textOf(received) : '')?.[0] ?? '';

/** Asks for a link; returns the one that arrives. */
async function askForLink(email = ADA): Promise<string> {
  await work();
  server.mails.length = 0;
  expect((await fill(pageUrl, { email })).status).toBe(200);
  await work();
  return linkIn(server.mails[0]);
}

/** Opens the page of a payer: the headers of further requests. */
async function open(link?: string): Promise<Fields> {
  const { headers, location } = await fill(link ?? (await askForLink()), {});
  expect(location).toBe(`/customer/${merchant.mid}/saved`);
  const cookie = headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/; Path=\/customer\/[0-9a-f-]+; HttpOnly; SameSite=Strict; Max-Age=1800$/);
  return { cookie: cookie.split(';')[0] as string };
}
const saved = (headers: Fields) => show(`${pageUrl}/saved`, { headers });
const idOf = (html: string, name: string): string =>
  new RegExp(`name="${name}" value="([0-9a-f-]{36})"`).exec(html)?.[1] ?? '';

async function subscribed(): Promise<string> {
  const { body } = await shop.post({
    action: 'CREATE_SCHEDULE',
    client_key: merchant.client_key,
    name: 'Tea of the month',
    interval_length: '1',
    interval_unit: 'month',
    payments_count: '12',
    hash: sign(merchant.password),
  });
  const { schedule_id } = body;
  const session = await checkout.open(
    { methods: ['card'], recurring_init: true, schedule_id, ...customer(ADA) },
    merchant,
  );
  expect((await fill(session.url, cardForm({ recurring_consent: '1' }))).status).toBe(303);
  return schedule_id;
}

describe('the link', () => {
  test('is sent to a known address only, and both are answered alike', async () => {
    await checkout.paidByCard(customer(ADA), merchant);
    await work();
    server.mails.length = 0;
    const known = await fill(pageUrl, { email: 'ADA@example.com ' });
    const unknown = await fill(pageUrl, { email: 'eve@example.com' });
    expect([known.status, known.text]).toEqual([200, unknown.text]);
    expect(readable(known.text)).toContain('If Tea & Sons knows this address, a link is on its way.');
    expect(server.mails).toHaveLength(0);
    await work();
    expect(server.mails.map(({ to }) => to)).toEqual([['ADA@example.com']]);
    expect(linkIn(server.mails[0])).toContain(pageUrl);
    expect(textOf(server.mails[0] as ReceivedMail)).toContain('Tea & Sons');
  });

  test('is answered before anybody looks the address up, so that the time of the answer tells nothing', async () => {
    await checkout.paidByCard(customer(ADA), merchant);
    await work();
    await shop.advanceClock(301, merchant.mid);
    const locker = new pg.Client(shop.connection);
    await locker.connect();
    // A request that reads what is known of payers waits for the end of this transaction.
    await locker.query('begin; lock table payments, history, cards, payment_search, subscriptions');
    try {
      const [known, unknown] = await Promise.all([ADA, 'nobody@example.com'].map((email) => fill(pageUrl, { email })));
      expect([known?.status, known?.text]).toEqual([200, unknown?.text]);
    } finally {
      await locker.end();
    }
  });

  test('of an address of another account is not sent', async () => {
    await checkout.paidByCard(customer(ADA), await shop.newMerchant());
    expect(await askForLink()).toBe('');
  });

  test('comes once, however often it is asked for within five minutes', async () => {
    await checkout.paidByCard(customer(ADA), merchant);
    await askForLink();
    await fill(pageUrl, { email: ADA });
    await work();
    expect(server.mails).toHaveLength(1);
    await shop.advanceClock(301, merchant.mid);
    await fill(pageUrl, { email: ADA });
    await work();
    expect(server.mails).toHaveLength(2);
  });

  test('opens the page once, by its button and not by being looked at', async () => {
    await checkout.paidByCard(customer(ADA), merchant);
    const link = await askForLink();
    for (let looks = 0; looks < 2; looks++) expect((await show(link)).status).toBe(200);
    const results = await Promise.all([fill(link, {}), fill(link, {})]);
    expect(results.map(({ status }) => status).sort()).toEqual([303, 410]);
    expect((await show(link)).status).toBe(410);
    expect(readable((await fill(link, {})).text)).toContain('Get a new link');
  });

  test('works for an hour', async () => {
    await checkout.paidByCard(customer(ADA), merchant);
    const link = await askForLink();
    await shop.advanceClock(HOUR + 1, merchant.mid);
    expect((await show(link)).status).toBe(410);
    expect((await fill(link, {})).status).toBe(410);
    await work();
    const rows = await shop.rows(`select 1 from customer_links where mid = '${merchant.mid}'`);
    expect(rows).toEqual([]);
  });

  test('is sent later if the mail server is busy, and the older one is void', async () => {
    await checkout.paidByCard(customer(ADA), merchant);
    await work();
    server.mails.length = 0;
    server.behaviour = 'busy';
    await fill(pageUrl, { email: ADA });
    await work();
    server.behaviour = 'accepts';
    await shop.advanceClock(61, merchant.mid);
    await work();
    expect(server.mails).toHaveLength(1);
    expect((await show(linkIn(server.mails[0]))).status).toBe(200);
  });

  test('of one account opens no page of another', async () => {
    await checkout.paidByCard(customer(ADA), merchant);
    const link = await askForLink();
    const other = await shop.newMerchant();
    expect((await fill(link.replace(merchant.mid, other.mid), {})).status).toBe(410);
    const headers = await open(link);
    const foreign = await show(`${shop.url}/customer/${other.mid}/saved`, { headers });
    expect([foreign.status, foreign.location]).toEqual([303, `/customer/${other.mid}`]);
  });

  test.each([['', 'ada', 'ada@example.com\nBcc: eve@example.com', 'a@b@c']].flat())(
    'refuses %j, and says so in the form',
    async (email) => {
      const page = await fill(pageUrl, { email });
      expect(page.status).toBe(422);
      expect(page.text).toContain('aria-invalid="true"');
      expectSafe(page);
    },
  );

  test('is not requested by other sites, nor too often from one address', async () => {
    const foreign = await fill(pageUrl, { email: ADA }, { 'sec-fetch-site': 'cross-site' });
    expect(foreign.status).toBe(403);
    const own = await startTestGateway({ mail });
    try {
      const url = `${own.url}/customer/${(await own.newMerchant()).mid}`;
      const statuses: number[] = [];
      for (let count = 0; count < 31; count++)
        statuses.push((await fill(url, { email: `a${count}@example.com` })).status);
      expect(new Set(statuses.slice(0, 30))).toEqual(new Set([200]));
      expect(statuses[30]).toBe(429);
    } finally {
      await own.close();
    }
  });
});

describe('the page', () => {
  test('shows the saved cards of this payer only, and removes one', async () => {
    const { token } = await checkout.paidByCard(customer(ADA), merchant);
    await checkout.paidByCard(customer(ADA), merchant);
    await checkout.paidByCard({ ...customer(ADA), req_token: false }, merchant, { card_number: '5555555555554444' });
    await checkout.paidByCard(customer('eve@example.com'), merchant, {
      card_number: '378282246310005',
      card_cvv: '1234',
    });
    const headers = await open();
    const page = await saved(headers);
    expectSafe(page);
    // The same card twice is one card; a card that was not saved is not there.
    expect(readable(page.text).match(/\w+ ending in \d{4}/g)).toEqual(['Visa ending in 1111']);
    expect(page.text).not.toContain(token);
    const removed = await fill(`${pageUrl}/saved`, { card: idOf(page.text, 'card') }, headers);
    expect(removed.location).toBe(`/customer/${merchant.mid}/saved?done=removed`);
    const after = await show(shop.url + removed.location, { headers });
    expect(readable(after.text)).toContain('The card was removed.');
    expect(readable(after.text)).toContain('Nothing is saved.');
    const again = await shop.admin('DELETE', `/accounts/${merchant.mid}/cards/${token}`);
    expect(again.status).toBe(400);
    const { body } = await shop.admin('GET', '/audit?action=cards.remove');
    const removals = body.items.filter(({ mid }: { mid: string }) => mid === merchant.mid);
    expect(removals.map(({ actor }: { actor: unknown }) => JSON.stringify(actor).includes('payer'))).toEqual([
      true,
      true,
    ]);
  });

  test('shows subscriptions with amount and date, and ends one', async () => {
    await subscribed();
    const headers = await open();
    const page = await saved(headers);
    const text = readable(page.text);
    for (const part of ['Tea of the month', '$10.00', 'Next payment on', 'Visa ending in 1111']) {
      expect(text).toContain(part);
    }
    const ended = await fill(`${pageUrl}/saved`, { subscription: idOf(page.text, 'subscription') }, headers);
    expect(readable((await show(shop.url + ended.location, { headers })).text)).toContain(
      'The subscription was cancelled.',
    );
    await shop.advanceClock(40 * 86_400, merchant.mid);
    await work();
    expect((await shop.admin('GET', `/payments?mid=${merchant.mid}`)).body.items).toHaveLength(1);
  });

  test('removing the card of a subscription ends it', async () => {
    const scheduleId = await subscribed();
    const headers = await open();
    await fill(`${pageUrl}/saved`, { card: idOf((await saved(headers)).text, 'card') }, headers);
    expect(readable((await saved(headers)).text).match(/Nothing is saved/g)).toHaveLength(2);
    const { body } = await shop.admin('GET', `/schedules/${scheduleId}/subscriptions`);
    expect(body.items[0]).toMatchObject({ state: 'ended', reason: 'card_removed' });
  });

  test('removes nothing of another payer, with any id', async () => {
    const { token } = await checkout.paidByCard(customer('eve@example.com'), merchant);
    const cards = await shop.rows(`select card_id from cards where mid = '${merchant.mid}'`);
    await checkout.paidByCard(customer(ADA), merchant, { card_number: '5555555555554444' });
    const headers = await open();
    for (const card of [String(cards[0]?.card_id), 'x', '', "' or 1=1"]) {
      const { location } = await fill(`${pageUrl}/saved`, { card }, headers);
      expect(location).toBe(`/customer/${merchant.mid}/saved`);
    }
    const { location } = await fill(`${pageUrl}/saved`, { subscription: 'x' }, headers);
    expect(location).toBe(`/customer/${merchant.mid}/saved`);
    expect((await shop.admin('DELETE', `/accounts/${merchant.mid}/cards/${token}`)).status).toBe(200);
  });

  test('needs its session, which ends after half an hour', async () => {
    await checkout.paidByCard(customer(ADA), merchant);
    const headers = await open();
    for (const wrong of [{}, { cookie: 'turnpike_customer=AAAA' }]) {
      expect((await saved(wrong)).location).toBe(`/customer/${merchant.mid}`);
      expect((await fill(`${pageUrl}/saved`, { card: 'x' }, wrong)).location).toBe(`/customer/${merchant.mid}`);
    }
    expect((await saved(headers)).status).toBe(200);
    await shop.advanceClock(1801, merchant.mid);
    expect((await saved(headers)).status).toBe(303);
  });

  test('is shown in no frame, also not of the shop', async () => {
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { frame_ancestors: ['https://shop.example'] });
    const { headers, text } = await show(pageUrl);
    expect(policyOf(headers).get('frame-ancestors')).toBe("'none'");
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(text).not.toContain('turnpike:(https?:');
  });

  test('speaks every language, and is small', async () => {
    for (const language of Object.keys(LANGUAGES)) {
      const page = await show(`${pageUrl}?lang=${language}`);
      expectSafe(page);
      expect(page.text).toContain(`<html lang="${language}`);
    }
    const { headers } = await fetch(pageUrl, { headers: { 'accept-encoding': 'br' } });
    expect(Number(headers.get('content-length'))).toBeLessThan(15 * 1024);
  });
});

test('a receipt leads to the page if a card was saved', async () => {
  const { url } = await checkout.paidByCard(customer(ADA), merchant);
  expect((await show(`${url}/receipt`)).text).toContain(`href="/customer/${merchant.mid}"`);
  await work();
  expect(textOf(server.mails.at(-1) as ReceivedMail)).toContain(pageUrl);
  const { url: unsaved } = await checkout.paidByCard({ ...customer(ADA), req_token: false }, merchant);
  expect((await show(`${unsaved}/receipt`)).text).not.toContain('/customer/');
});

test('without a mail server, and for unknown accounts, there is no such page', async () => {
  for (const mid of ['x', crypto.randomUUID()]) expect((await show(`${shop.url}/customer/${mid}`)).status).toBe(404);
  const own = await startTestGateway();
  try {
    expect((await show(`${own.url}/customer/${(await own.newMerchant()).mid}`)).status).toBe(404);
  } finally {
    await own.close();
  }
});
