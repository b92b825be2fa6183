/** Forms that the script of the page sends: answers that keep the form, and attempts that are submitted once. */
import { describe, expect, test } from 'vitest';
import {
  CANCEL_URL,
  cardForm,
  checkoutOf,
  choices,
  fill,
  marked,
  type Session,
  SUCCESS_URL,
  show,
  VCARD,
} from '../support/checkout.ts';
import { type Answer, type Fields, openShop } from '../support/gateway.ts';
import { readable } from '../support/pages.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);
const CARD = { methods: ['card'] };

/** Sends a form as the script does. */
async function send(url: string, form: Fields): Promise<Pick<Answer, 'status' | 'body'>> {
  const { status, text, headers } = await fill(url, { ...form, answer: 'json' });
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  return { status, body: JSON.parse(text) };
}

const statusOf = async ({ url }: Session): Promise<Answer['body']> => JSON.parse((await show(`${url}/status`)).text);
const attemptIn = (text: string): string | undefined => /name="attempt" value="(\d+)"/.exec(text)?.[1];
const DECLINED = cardForm({ card_expiry: '02/38' });

describe('the answer', () => {
  test('to a payment is where the payer goes on', async () => {
    const { url } = await checkout.open(CARD);
    expect(await send(url, cardForm())).toEqual({ status: 200, body: { location: SUCCESS_URL } });
  });

  test('to a redirect is the page of the provider', async () => {
    const { url } = await checkout.open({ methods: ['local-a'] });
    const { body } = await send(url, { method: 'local-a' });
    expect(body.location.startsWith(`${shop.provider?.url}/pay/`)).toBe(true);
  });

  test('to wrong fields is their texts, by the ids of the inputs; nothing is submitted', async () => {
    const { url, id } = await checkout.open(CARD);
    const wrong = await send(url, cardForm({ card_number: '4111111111111112', card_cvv: '1' }));
    expect(wrong).toEqual({
      status: 422,
      body: {
        title: '',
        text: 'Please check the 2 marked fields. Nothing was paid.',
        problems: {
          card_number: 'This card number does not look right. Please check it.',
          card_cvv: 'Please fill in the 3 digits of the security code.',
        },
      },
    });
    expect(await checkout.events(id)).toEqual(['opened']);
  });

  test('to an IBAN in place of the code of the bank says so', async () => {
    const { url } = await checkout.open({ methods: ['bank-a'] });
    const names = { payer_first_name: 'Ada', payer_last_name: 'Byron', 'parameters[bank_account_number]': '17' };
    const { body } = await send(url, { ...names, 'parameters[bank_code]': 'DE89 3704 0044 0532 0130 00' });
    expect(body.problems).toEqual({
      'parameters-bank_code-': 'This is an IBAN. Please fill in the SWIFT code (BIC) of your bank here.',
    });
  });

  test('to a form without consent is the text beside the box', async () => {
    const { url } = await checkout.open({ ...CARD, recurring_init: true, recurring_consent_required: true });
    expect((await send(url, cardForm())).body.problems).toEqual({ consent: 'Please agree before you continue.' });
  });

  test('to a decline is the reason and the next attempt; the state of the payment has the same', async () => {
    const session = await checkout.open(CARD);
    const { body } = await send(session.url, DECLINED);
    expect(body).toEqual({
      title: 'The payment was declined',
      text: 'No money was taken. You can try again, or use another card.',
      version: expect.stringMatching(/^1\.DECLINED/),
      attempt: 2,
    });
    expect(await statusOf(session)).toEqual(body);
    expect((await send(session.url, cardForm({ attempt: '2' }))).body).toEqual({ location: SUCCESS_URL });
  });

  test('to the last card of a session is the page, which offers the other methods', async () => {
    const merchant = await shop.newMerchant({ card_tries_per_session: 1 });
    const session = await checkout.open({ methods: ['card', 'vcard', 'doc-a'] }, merchant);
    expect((await send(session.url, DECLINED)).body).toEqual({ location: new URL(session.url).pathname });
    expect(await statusOf(session)).toEqual({ version: expect.stringMatching(/^1\.DECLINED/) });
    expect(choices((await show(session.url)).text)).toEqual(['vcard', 'doc-a']);
  });

  test('to a limit is its text', async () => {
    const merchant = await shop.newMerchant({ card_failures_per_address: 1 });
    await send((await checkout.open(CARD, merchant)).url, DECLINED);
    const { status, body } = await send((await checkout.open(CARD, merchant)).url, cardForm());
    expect([status, body.text]).toEqual([429, expect.stringContaining('No card can be tried at the moment.')]);
  });

  test('to another site and to an unknown link is a text', async () => {
    const { url, id } = await checkout.open(CARD);
    const body = new URLSearchParams({ ...cardForm(), answer: 'json' });
    const foreign = await show(url, { method: 'POST', body, headers: { 'sec-fetch-site': 'cross-site' } });
    expect([foreign.status, JSON.parse(foreign.text).text]).toEqual([403, expect.stringContaining('nothing was paid')]);
    expect(await checkout.events(id)).toEqual(['opened']);
    expect((await send(`${shop.url}/pay/nothing`, cardForm())).status).toBe(404);
  });
});

describe('one attempt', () => {
  test('that was declined is not submitted again by a copy of its form that arrives late', async () => {
    const session = await checkout.open(CARD);
    const form = { ...DECLINED, attempt: attemptIn((await show(session.url)).text) as string };
    const { body } = await send(session.url, form);
    // The same request once more, with a card that would pay: its payer has been told of a decline.
    const late = { ...form, card_expiry: '01/38' };
    expect((await send(session.url, late)).body).toEqual(body);
    expect((await fill(session.url, late)).location).toBe(new URL(session.url).pathname);
    expect(await checkout.attempts(session.orderId)).toEqual([session.id]);
  });

  test('that was paid is answered with its outcome', async () => {
    const session = await checkout.open(CARD);
    const form = cardForm({ attempt: '1' });
    await send(session.url, form);
    expect((await send(session.url, form)).body).toEqual({ location: new URL(session.url).pathname });
    expect(await checkout.attempts(session.orderId)).toHaveLength(1);
    expect((await checkout.atProvider(session.id)).movements).toHaveLength(1);
  });

  test('that is sent ten times at once is submitted once', async () => {
    const session = await checkout.open(CARD);
    await send(session.url, DECLINED);
    await Promise.all(Array.from({ length: 10 }, () => send(session.url, cardForm({ attempt: '2' }))));
    const [second = '', ...others] = await checkout.attempts(session.orderId);
    expect([others, await checkout.submissions(second)]).toEqual([[session.id], 1]);
    expect((await checkout.atProvider(second)).movements).toHaveLength(1);
  });

  test('has a new version as soon as it is submitted, so that a page without an answer can tell', async () => {
    const session = await checkout.open({ methods: ['telecom-a'] });
    const { version } = await statusOf(session);
    expect((await show(session.url)).text).toContain(`data-version="${version}"`);
    await send(session.url, { method: 'telecom-a' });
    expect((await statusOf(session)).version).not.toBe(version);
  });
});

describe('after a decline', () => {
  test('the form of the method is open again, with the reason and without the number, in any browser', async () => {
    const { url } = await checkout.open({ methods: ['vcard', 'card'] });
    const declined = await fill(url, DECLINED);
    const [cookie = ''] = (declined.headers.get('set-cookie') ?? '').split(';');
    const own = (await show(url, { headers: { cookie } })).text;
    const other = (await show(url)).text;
    for (const page of [own, other]) {
      expect(page).toContain('aria-current="true" href="?method=card"');
      expect(readable(page)).toContain('The payment was declined No money was taken.');
      expect(page).not.toMatch(/4111 ?1111 ?1111 ?1111/);
      expect(attemptIn(page)).toBe('2');
    }
    expect([own.includes('Ada Byron'), other.includes('Ada Byron')]).toEqual([true, false]);
  });
});

describe('the first method', () => {
  test('is open at once, and the others are links beside it', async () => {
    const { url } = await checkout.open({ methods: ['vcard', 'doc-a'] });
    const { text } = await show(url);
    expect(choices(text)).toEqual(['vcard', 'doc-a']);
    expect(text).toContain('name="identifier"');
    expect((await show(`${url}?method=doc-a`)).text).not.toContain('name="identifier"');
  });

  test('is the card if the payer has a saved one, which is chosen', async () => {
    const merchant = await shop.newMerchant({ page_methods: ['vcard', 'card'] });
    const { token } = await checkout.paidByCard({}, merchant);
    expect(choices((await show((await checkout.open({}, merchant)).url)).text)).toEqual(['vcard', 'card']);
    const { text } = await show((await checkout.open({ card_token: [token] }, merchant)).url);
    expect(choices(text)).toEqual(['card', 'vcard']);
    expect(text).toMatch(/name="saved_card" value="[^"]+" checked/);
  });

  test('a code to scan is one press away, and by itself if it is the only way', async () => {
    const order = { currency: 'RSD' };
    const several = await checkout.open({ methods: ['vcard', 'ips'], order });
    expect((await show(several.url)).text).toContain('<button class="choice" name="method" value="ips">');
    const only = await checkout.open({ methods: ['ips'], order });
    expect((await show(only.url)).text).toMatch(/<form [^>]*data-go="0.4"/);
    await fill(only.url, { method: 'ips' });
    expect(readable((await show(only.url)).text)).toContain('Scan to pay');
    await fill(`${only.url}/leave`, {});
    expect((await show(only.url)).text, 'not again for a payer who left it').not.toMatch(/<form [^>]*data-go/);
  });
});

test('wrong fields without scripts: the form of the method stays open, beside the other methods', async () => {
  const { url } = await checkout.open({ methods: ['doc-a', 'vcard', 'card'] });
  const { status, text } = await fill(url, cardForm({ card_cvv: '1' }));
  expect([status, marked(text), choices(text)]).toEqual([422, ['card_cvv'], ['card', 'vcard', 'doc-a']]);
});

describe('the language', () => {
  const inGerman = async (url: string, headers: Fields = {}) => readable((await show(url, { headers })).text);

  test('is chosen by a link, and kept for the payment pages of this browser only', async () => {
    const { url } = await checkout.open({ methods: ['card', 'vcard'] });
    const { text, headers } = await show(`${url}?lang=de`, { headers: { 'accept-language': 'en' } });
    expect(text).toContain('<html lang="de"');
    const cookie = headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^turnpike_language=de; Path=\/pay; HttpOnly; SameSite=Lax; Max-Age=\d+$/);
    expect(await inGerman(url, { cookie: 'turnpike_language=de' })).toContain('Wie möchten Sie bezahlen?');
    expect(await inGerman(url)).toContain('How do you want to pay?');
  });

  test('keeps the method, comes before that of the account, and has the region of the browser', async () => {
    const merchant = await shop.newMerchant({ locale: 'fr' });
    const { url } = await checkout.open({ methods: ['card', 'vcard'], order: { currency: 'EUR' } }, merchant);
    const { text } = await show(`${url}?method=vcard&lang=de`, { headers: { 'accept-language': 'en,de-AT;q=0.5' } });
    expect(text).toContain('<html lang="de-AT"');
    expect(text).toContain('href="?method=vcard&amp;lang=ja" lang="ja" hreflang="ja"');
    expect(readable(text)).toContain('€ 10,00');
  });

  test.each(['xx', 'DE', '__proto__', '<script>', ''])('%j is not one', async (language) => {
    const { url } = await checkout.open(CARD);
    const { text, headers } = await show(`${url}?lang=${encodeURIComponent(language)}`);
    expect([text.includes('<html lang="en"'), headers.get('set-cookie')]).toEqual([true, null]);
  });
});

test('a session without cancel_url leads to the start page of the shop, while it is open', async () => {
  const { url } = await checkout.open({ methods: ['vcard'], cancel_url: undefined });
  expect((await show(url)).text).toContain('href="https://shop.example/"');
  await fill(url, VCARD.success);
  expect((await show(url)).text).not.toContain('href="https://shop.example/"');
  const named = await checkout.open({ methods: ['vcard'] });
  expect((await show(named.url)).text).toContain(`href="${CANCEL_URL}"`);
});

test('the remaining time is shown in the last five minutes only', async () => {
  const merchant = await shop.newMerchant();
  const { url } = await checkout.open({ ...CARD, session_expiry: 10 }, merchant);
  expect((await show(url)).text).toContain('<p class="time" hidden>');
  await shop.advanceClock(301, merchant.mid);
  expect((await show(url)).text).toContain('<p class="time"><svg');
});
