/** The payment page in a frame of a shop of another origin, shown by the script for shops. */
import { beforeAll, expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import type { FrameLocator, Page } from '../support/browser.ts';
import type { Body, Session } from '../support/checkout.ts';
import type { Merchant } from '../support/gateway.ts';
import { walletSettings } from '../support/wallets.ts';
import { confirmAtBank, isAtShop, ONCE, reads, setStage } from './stage.ts';

const stage = setStage();
let merchant: Merchant;
beforeAll(async () => {
  merchant = await stage.shop.newMerchant({ ...walletSettings(), frame_ancestors: [stage.origin] });
});

const ALL = 'onPaid,onDeclined,onCancelled,onHeight';

/** A page of the shop with the payment page of a new session in it. */
async function embed(page: Page, fields: Body, handled = ''): Promise<{ session: Session; frame: FrameLocator }> {
  const session = await stage.open(fields, merchant);
  await page.goto(`${stage.origin}/basket?embed=${session.url}&handled=${handled}`);
  return { session, frame: page.frameLocator('iframe') };
}

async function payByCard(frame: FrameLocator, expiry = '01/38'): Promise<void> {
  await frame.getByLabel(en.cardNumber).fill('4111111111111111');
  await frame.getByLabel(en.cardExpiry).fill(expiry);
  await frame.getByLabel(en.cardCvv, { exact: true }).fill('123');
  await frame.getByLabel(en.cardHolder).fill('Ada Byron');
  await pay(frame);
}
const pay = (frame: FrameLocator): Promise<void> => frame.getByRole('button', { name: /^Pay / }).click();

/** What the handlers of the shop were called with, without the heights. */
const heard = (page: Page): Promise<[string, { url?: string }][]> =>
  page.evaluate('heard.filter(([name]) => name !== "onHeight")');
const received = (page: Page): Promise<Record<string, unknown>[]> => page.evaluate('received');

test('a card is paid in the frame, and the shop hears of it without card data', async () => {
  const page = await stage.payer();
  const { session, frame } = await embed(page, { methods: ['card'] }, ALL);
  await payByCard(frame);
  await expect.poll(() => heard(page)).toEqual([['onPaid', { url: `${stage.origin}/thanks` }]]);
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
  expect(page.url()).toContain('/basket');
  const messages = await received(page);
  expect(new Set(messages.map(({ origin }) => origin))).toEqual(new Set([new URL(session.url).origin]));
  const names = new Set(messages.flatMap((message) => Object.keys(message)));
  expect([...names].sort()).toEqual(['height', 'origin', 'title', 'turnpike', 'url', 'version']);
  expect(JSON.stringify(messages)).not.toMatch(/4111111111111111|1111"|Ada|01\/38/);
});

test('the frame is as high as its page, and follows it', async () => {
  const page = await stage.payer({ viewport: { width: 390, height: 700 } });
  const { frame } = await embed(page, { methods: ['card'] }, ALL);
  await frame.getByLabel(en.cardNumber).waitFor();
  const heights = (): Promise<[frame: number, page: number]> =>
    Promise.all([
      page.locator('iframe').evaluate((element) => element.getBoundingClientRect().height),
      frame.locator('body').evaluate((body) => Math.ceil(body.getBoundingClientRect().height)),
    ]);
  const isFitting = async (): Promise<boolean> => {
    const [outer, inner] = await heights();
    return outer === inner;
  };
  await expect.poll(isFitting).toBe(true);
  const [before] = await heights();
  await frame.locator('.languages summary').click();
  await expect.poll(async () => (await heights())[0] > before).toBe(true);
  await expect.poll(isFitting).toBe(true);
  await frame.locator('.languages summary').click();
  await expect.poll(async () => (await heights())[0]).toBe(before);
  const told: number[] = await page.evaluate(
    'heard.filter(([name]) => name === "onHeight").map(([, height]) => height)',
  );
  expect(told.at(-1)).toBe(before);
});

test('without handlers the whole window goes on to the shop', async () => {
  const page = await stage.payer();
  const { frame } = await embed(page, { methods: ['card'] });
  await payByCard(frame);
  await isAtShop(page, stage, 'thanks');
});

test('the shop hears of each decline once, and the payer tries again', async () => {
  const page = await stage.payer();
  const { session, frame } = await embed(page, { methods: ['card'] }, ALL);
  await payByCard(frame, '02/38');
  await frame.getByRole('alert').waitFor();
  await expect.poll(() => heard(page)).toEqual([['onDeclined', {}]]);
  // The same decline on a page that is loaded again, with the card of the attempt.
  await frame.locator('body').evaluate('location.reload()');
  await frame.getByRole('radio', { name: 'Visa ending in 1111', checked: true }).waitFor();
  await frame.getByLabel(en.cardExpiry).fill('01/38');
  await frame.getByLabel(en.cardCvv, { exact: true }).fill('123');
  await pay(frame);
  await expect.poll(async () => (await heard(page)).map(([name]) => name)).toEqual(['onDeclined', 'onPaid']);
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});

test('a challenge of the bank in the frame', async () => {
  const page = await stage.payer({ complains: /autofocusing/ });
  const { session, frame } = await embed(page, { methods: ['card'] }, ALL);
  await payByCard(frame, '05/38');
  await confirmAtBank(frame.frameLocator('dialog[open] iframe'));
  await expect.poll(() => heard(page)).toEqual([['onPaid', { url: `${stage.origin}/thanks` }]]);
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});

test('a wallet in the frame', async () => {
  const page = await stage.payer();
  const { session, frame } = await embed(page, { methods: ['wallet-a'] }, ALL);
  expect(await page.locator('iframe').getAttribute('allow')).toContain('payment *');
  await frame.getByRole('button').click();
  await frame.getByRole('dialog').getByRole('button', { name: /^Pay / }).click();
  await expect.poll(async () => (await heard(page)).map(([name]) => name)).toEqual(['onPaid']);
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});

test.each([
  ['12/38', 'card'],
  ['', 'doc-a'],
])('the page of a provider opens in the whole window, and leads back to the shop (%s, %s)', async (expiry, method) => {
  const page = await stage.payer();
  const { session, frame } = await embed(page, { methods: [method] }, ALL);
  if (method === 'card') await payByCard(frame, expiry);
  else {
    await frame.locator('main [name="parameters[document_number]"]').fill('45678912');
    await frame.getByRole('button', { name: en.next }).click();
  }
  await page.getByRole('button', { name: 'Approve' }).click();
  await isAtShop(page, stage, 'thanks');
  expect(await stage.paidTimes(session, merchant)).toEqual(ONCE);
});

test('a payer who cancels', async () => {
  const page = await stage.payer();
  const { frame } = await embed(page, { methods: ['card'] }, ALL);
  await frame.getByRole('link', { name: en.cancel }).click();
  await expect.poll(() => heard(page)).toEqual([['onCancelled', { url: `${stage.origin}/basket` }]]);
  const { frame: unhandled } = await embed(page, { methods: ['card'] });
  await unhandled.getByRole('link', { name: en.cancel }).click();
  await isAtShop(page, stage, 'basket');
});

test('a shop that is not allowed shows a link instead of an empty frame, and says why', async () => {
  const page = await stage.payer({ complains: /frame/i });
  const said = page.waitForEvent('console', (message) => message.text().includes('frame_ancestors'));
  const session = await stage.open({ methods: ['card'] });
  await page.goto(`${stage.origin}/basket?embed=${session.url}`);
  expect((await said).text()).toContain(stage.origin);
  expect(await page.locator('iframe').isVisible()).toBe(false);
  await page.getByRole('link', { name: 'Open the payment page' }).click();
  await page.getByLabel(en.cardNumber).waitFor();
  expect(page.url()).toBe(session.url);
});

test('messages of other windows and origins are not heard', async () => {
  const page = await stage.payer();
  const { frame } = await embed(page, { methods: ['card'] }, ALL);
  await frame.getByLabel(en.cardNumber).waitFor();
  await page.evaluate(`
    postMessage({ turnpike: 'paid', url: '/forged' }, '*');
    const other = document.createElement('iframe');
    other.srcdoc = '<script>parent.postMessage({ turnpike: "leave", url: "https://evil.example/" }, "*")</' + 'script>';
    document.body.append(other);`);
  await expect.poll(async () => (await received(page)).filter(({ turnpike }) => turnpike === 'leave').length).toBe(1);
  expect(await heard(page)).toEqual([]);
  expect(page.url()).toContain('/basket');
});

test('wrong arguments are named, and an unmounted frame is gone', async () => {
  const page = await stage.payer();
  await embed(page, { methods: ['card'] });
  const mount = (place: string, url: string): Promise<string> =>
    page.evaluate(
      `(() => { try { Turnpike.mount(${place}, { url: ${url} }) } catch (error) { return error.message } })()`,
    );
  expect(await mount("'#none'", "'https://pay.example/pay/x'")).toContain('not an element');
  for (const url of ["'javascript:alert(1)'", "'/pay/x'", 'undefined']) {
    expect(await mount("'#pay'", url)).toContain('url is not an address');
  }
  await page.evaluate('mounted.unmount()');
  expect(await page.locator('iframe').count()).toBe(0);
});

test('a link without a session is embedded, too', async () => {
  const page = await stage.payer();
  const link = await stage.shop.admin('POST', '/links', {
    mid: merchant.mid,
    title: 'Two teapots',
    amount: '10.00',
    currency: 'USD',
    uses: 1,
    methods: ['card'],
  });
  await page.goto(`${stage.origin}/basket?embed=${link.body.url}&handled=${ALL}`);
  const frame = page.frameLocator('iframe');
  await reads(frame, 'Two teapots');
  await frame.getByRole('button', { name: en.next }).click();
  await payByCard(frame);
  await expect.poll(async () => (await heard(page)).map(([name]) => name)).toEqual(['onPaid']);
});
