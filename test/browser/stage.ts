/** What the browser tests play on: a gateway with its provider simulator, a shop to come back to, and hands that type cards. */
import { afterAll, beforeAll, expect, vi } from 'vitest';
import type { Connector, Outcome } from '../../src/connectors/connector.ts';
import { en } from '../../src/pages/locales/en.ts';
import {
  type BrowserTraits,
  type FrameLocator,
  type Page,
  type PayerOptions,
  payersOfFile,
} from '../support/browser.ts';
import { type Body, checkoutOf, type Session } from '../support/checkout.ts';
import { type Fields, type Merchant, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type Behaviour, startReceiver, type TestReceiver } from '../support/receivers.ts';

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="40"><rect width="120" height="40" fill="#a0f"/></svg>';

/** The shop embeds the page of a session, and notes what its script and its window hear. */
const embeddingPage = (url: string, handled: string): string => `<div id="pay"></div>
<script src="${new URL('/embed.js', url).href}"></script>
<script>
const heard = [], received = [];
addEventListener('message', ({ data, origin }) => received.push({ ...data, origin }));
const handlers = Object.fromEntries(${JSON.stringify(handled.split(','))}.map((name) => [name, (value) => heard.push([name, value])]));
const mounted = Turnpike.mount('#pay', { url: ${JSON.stringify(url)}, ...handlers });
</script>`;

/** The shop says where the payer is by the last word of the path; it has a logo, and pages with a frame. */
const shopPages: Behaviour = (response, { path }) => {
  const { pathname, searchParams } = new URL(path, 'http://shop');
  if (pathname === '/logo.svg') return void response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(LOGO);
  const framed = searchParams.get('frame');
  const embedded = searchParams.get('embed');
  const body =
    embedded !== null
      ? embeddingPage(embedded, searchParams.get('handled') ?? '')
      : framed === null
        ? `<h1>${pathname.slice(1)}</h1>`
        : `<iframe src="${framed}" width="600" height="800"></iframe>`;
  response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>Shop</title><body>${body}`);
};

export interface Stage {
  shop: TestGateway;
  checkout: ReturnType<typeof checkoutOf>;
  /** The origin of the merchant's shop. */
  origin: string;
  /** A payer with a browser of their own. */
  payer(options?: PayerOptions): Promise<Page>;
  /** A session that leads back to the shop. */
  open(fields?: Body, merchant?: Merchant): Promise<Session>;
  /** Opens a session in the browser. */
  visit(page: Page, fields?: Body, merchant?: Merchant): Promise<Session>;
  /** How many of its attempts were settled, how often those that moved money were submitted, and how often it moved. */
  paidTimes(session: Session, merchant?: Merchant): Promise<{ settled: number; submitted: number; moved: number }>;
}

export const ONCE = { settled: 1, submitted: 1, moved: 1 };

/** The stage of one test file. */
export function setStage(traits?: BrowserTraits): Stage {
  const payer = payersOfFile(traits);
  let server: TestReceiver;
  const stage = { payer } as Stage;
  beforeAll(async () => {
    server = await startReceiver(shopPages);
    stage.origin = new URL(server.url).origin;
    stage.shop = await startTestGateway({ simulator: true });
    stage.checkout = checkoutOf(stage.shop);
  });
  afterAll(async () => {
    await stage.shop?.close();
    await server?.close();
  });
  stage.open = (fields = {}, merchant) => {
    const backTo = (name: string): string => `${stage.origin}/${name}`;
    return stage.checkout.open(
      {
        success_url: backTo('thanks'),
        cancel_url: backTo('basket'),
        expiry_url: backTo('expired'),
        error_url: backTo('error'),
        ...fields,
      },
      merchant,
    );
  };
  stage.visit = async (page, fields, merchant) => {
    const session = await stage.open(fields, merchant);
    await page.goto(session.url);
    return session;
  };
  stage.paidTimes = async ({ orderId }, merchant) => {
    const ids = await stage.checkout.attempts(orderId, merchant);
    const sums = { settled: 0, submitted: 0, moved: 0 };
    for (const id of ids) {
      const told = await stage.checkout.atProvider(id);
      sums.settled += (await stage.checkout.stateOf(id, merchant)) === 'settled' ? 1 : 0;
      if (told?.movements.length > 0) sums.submitted += await stage.checkout.submissions(id);
      sums.moved += told?.movements.length ?? 0;
    }
    return sums;
  };
  return stage;
}

/** From now on the provider wants its payers to come with a form, to this address, with the way to its page in it. */
export function wantForms({ shop: { gateway } }: Stage, url: string, values: Fields): void {
  const upstream = gateway.connectors.upstream as Connector;
  const posting = (outcome: Outcome): Outcome =>
    outcome.kind === 'redirected'
      ? { ...outcome, url, method: 'POST', params: { ...values, page: outcome.url } }
      : outcome;
  gateway.connectors = {
    ...gateway.connectors,
    upstream: {
      ...upstream,
      submit: async (submission, deadline) => posting(await upstream.submit(submission, deadline)),
      query: async (submission, deadline) => posting(await upstream.query(submission, deadline)),
    },
  };
}

/** The card form as its payer finds it. */
export const cardForm = (page: Page) => ({
  number: page.getByLabel(en.cardNumber, { exact: true }),
  expiry: page.getByLabel(en.cardExpiry, { exact: true }),
  cvv: page.getByLabel(en.cardCvv, { exact: true }),
  holder: page.getByLabel(en.cardHolder, { exact: true }),
  pay: page.locator('main form').getByRole('button', { name: new RegExp(en.pay.replace('{amount}', '.+')) }),
});

/** Fills in a card that succeeds, or another one. */
export async function fillCard(page: Page, expiry = '01/38', number = '4111 1111 1111 1111'): Promise<void> {
  const form = cardForm(page);
  await form.pay.waitFor();
  // After a decline, the card of the last attempt is chosen.
  const another = page.getByRole('radio', { name: en.anotherCard, exact: true });
  if (await another.isVisible()) await another.check();
  await form.number.fill(number);
  await form.expiry.fill(expiry);
  await form.cvv.fill('123');
  await form.holder.fill('Ada Byron');
}

export async function payByCard(page: Page, expiry?: string): Promise<void> {
  await fillCard(page, expiry);
  await cardForm(page).pay.click();
}

/** A name that only the server refuses. */
export const REFUSED_NAME = '1234 5678 9012';

export async function payInVain(page: Page): Promise<void> {
  await fillCard(page);
  await cardForm(page).holder.fill(REFUSED_NAME);
  await cardForm(page).pay.click();
}

/** What a brand asks for, by the name of its field. */
export const field = (page: Page, name: string) => page.locator(`main [name="${name}"]`);

/** The link to a way to pay; a code is shown by a button. */
export const way = (page: Page, name: string) =>
  page.getByRole('link', { name, exact: true }).or(page.locator('.choices').getByRole('button', { name, exact: true }));

/** Waits until the payer reads this heading. */
export const reads = (page: Page | FrameLocator, heading: string): Promise<void> =>
  page.getByRole('heading', { name: heading, exact: true }).first().waitFor();

/** Waits until the payer is at this page of the shop. */
export const isAtShop = async (page: Page, { origin }: Stage, name: string): Promise<void> => {
  // Not `waitForURL`: it fails if the browser replaces one navigation by the next.
  await expect.poll(() => page.url(), { timeout: 60_000 }).toBe(`${origin}/${name}`);
  await reads(page, name);
};

/** The page of the card's bank, in the dialog of the payment page. */
export const bankOf = (page: Page): FrameLocator => page.frameLocator('dialog[open] iframe');

/** The heading of the simulated bank. */
export const AT_BANK = 'Confirm your payment';

/** Presses a button on the page of the simulated provider, where the payer decides. */
export const decide = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click();

/** The bank of the card asks for its code. */
export async function confirmAtBank(bank: Page | FrameLocator, code = '1234'): Promise<void> {
  await bank.getByLabel('One-time code').fill(code);
  await bank.getByRole('button', { name: 'Confirm' }).click();
}

/** The inputs that are marked as wrong, each with what its payer is told. */
export async function marked(page: Page): Promise<Fields> {
  const inputs = await page.locator('[aria-invalid=true]').all();
  const pairs = inputs.map(async (input): Promise<[string, string]> => {
    const name = (await input.getAttribute('name')) ?? '';
    const told = page.locator(`#${(await input.getAttribute('aria-describedby'))?.split(' ')[0]}`);
    expect(await told.isVisible(), `${name} says why`).toBe(true);
    return [name, (await told.textContent()) ?? ''];
  });
  return Object.fromEntries(await Promise.all(pairs));
}

/** The name of the input that what is typed goes to. */
export const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement.name ?? ""');

/** From now on time passes in this browser only when the test says so: nothing leads on or looks again by itself. */
export async function stopTime(page: Page): Promise<void> {
  const now = Date.now();
  // Until it is paused, the clock of the browser goes on from here; a busy machine may take a while.
  await page.clock.install({ time: now - 60_000 });
  await page.clock.pauseAt(now);
}

/** Lets stopped time pass, once the script of the page has set its timers. */
export async function passTime(page: Page, ms: number): Promise<void> {
  await page.waitForLoadState();
  await page.clock.fastForward(ms);
}

/** Lets stopped time pass until the payer reads this heading, because an answer to the page may take any real time. */
export const readsLater = (page: Page, heading: string): Promise<void> =>
  expect
    .poll(
      async () => {
        // Less than the time after which a result leads back to the shop.
        await passTime(page, 3000);
        return page.getByRole('heading', { name: heading, exact: true }).first().isVisible();
      },
      { timeout: 60_000, interval: 500 },
    )
    .toBe(true);

/** Opens an address; the page may leave by itself just then, which aborts this navigation. */
export const goAgain = (page: Page, url: string): Promise<unknown> =>
  vi.waitFor(() => page.goto(url), { timeout: 60_000, interval: 200 });
