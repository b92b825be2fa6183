/** `npm run live` against doubles: what it asks for, what it does with a payer and a forwarder, and its report. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { PaymentStatus } from '@mollie/api-client';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Webhook } from '../conformance/conforms.ts';
import { startAdyen } from '../doubles/adyen.ts';
import { type CheckoutDouble, startCheckout } from '../doubles/checkout-com.ts';
import { API_KEY, startMollie } from '../doubles/mollie.ts';
import { type PaypalDouble, startPaypal } from '../doubles/paypal.ts';
import { freePort } from '../support/free-port.ts';
import { sendSignal } from '../support/signals.ts';

type Variables = Readonly<Record<string, string>>;

/** Only what a shell has: the variables of these tests are not those of the program's own. */
const environment = (variables: Variables) => ({ PATH: process.env.PATH, HOME: process.env.HOME, ...variables });
const command = (provider: string): string[] => ['live/main.ts', ...(provider === '' ? [] : [provider])];

describe('without what it needs, it explains itself and calls nobody', () => {
  const run = (provider: string, variables: Variables = {}) => {
    const { status, stderr, stdout } = spawnSync(process.execPath, command(provider), {
      env: environment(variables),
      encoding: 'utf8',
    });
    return { status, stderr, stdout };
  };
  const PAYPAL = {
    PAYPAL_TEST_CLIENT_ID: 'id',
    PAYPAL_TEST_CLIENT_SECRET: 'secret',
    PAYPAL_WEBHOOK_ID: 'webhook',
    LIVE_PAYER: '1',
  };

  test.each([
    ['paypal', {}, Object.keys(PAYPAL).join(', ')],
    ['paypal', { ...PAYPAL, PAYPAL_WEBHOOK_ID: '' }, 'PAYPAL_WEBHOOK_ID'],
    ['paypal', { ...PAYPAL, LIVE_PAYER: '' }, 'LIVE_PAYER'],
    ['checkout', {}, 'CHECKOUT_TEST_KEY, CHECKOUT_TEST_CHANNEL'],
    ['checkout', { CHECKOUT_TEST_KEY: 'sk_sbox_x' }, 'CHECKOUT_TEST_CHANNEL'],
    ['stripe', {}, 'STRIPE_TEST_KEY'],
    ['adyen', { ADYEN_TEST_KEY: 'AQx' }, 'ADYEN_TEST_MERCHANT_ACCOUNT'],
    ['mollie', { MOLLIE_TEST_KEY: 'test_x' }, 'LIVE_PAYER'],
  ])('%s with %j', (provider, variables, missing) => {
    const { status, stderr, stdout } = run(provider, variables);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr.split('\n', 1)).toEqual([`Missing: ${missing}`]);
    expect(stderr).toContain(`writes live-report-${provider}.md, or the file LIVE_REPORT. It moves no real money.`);
    for (const name of [...missing.split(', '), 'LIVE_WEBHOOK_PORT']) expect(stderr).toContain(`  ${name}: `);
  });

  test.each([
    ['checkout', { CHECKOUT_TEST_KEY: 'sk_live', CHECKOUT_TEST_CHANNEL: 'pc_x' }, 'CHECKOUT_TEST_KEY'],
    ['stripe', { STRIPE_TEST_KEY: 'sk_live_x' }, 'STRIPE_TEST_KEY'],
    ['mollie', { MOLLIE_TEST_KEY: 'live_x', LIVE_PAYER: '1' }, 'MOLLIE_TEST_KEY'],
  ])('%s with a live key', (provider, variables, name) => {
    expect(run(provider, variables)).toEqual({
      status: 1,
      stdout: '',
      stderr: `${name} is not a test key. Live keys move real money.\n`,
    });
  });

  test.each(['', 'nobody', 'constructor'])('the provider “%s”', (provider) => {
    const { status, stderr } = run(provider);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^usage: .*stripe, adyen, mollie, paypal, checkout\n$/),
    ]);
  });
});

interface Double {
  violations: string[];
  /** Omitted if the double sends its webhooks itself. */
  webhooks?(): Webhook[];
  close(): Promise<void>;
}

/** The person at the pages that the program prints, with what to do there. */
type Payer = (url: string, what: string) => Promise<void> | void;

interface Run {
  status: number | null;
  /** What the report says about each test, by its name. */
  findings: Map<string, string>;
  report: string;
  pages: number;
}

/** Runs the program until it ends; with a port, the webhooks are forwarded to it. */
async function run(provider: string, variables: Variables, double: Double, payer?: Payer, port?: number): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-live-'));
  const file = join(folder, 'report.md');
  const people = payer ? { LIVE_PAYER: '1' } : {};
  const forwarder = port === undefined ? {} : { LIVE_WEBHOOK_PORT: String(port) };
  const child = spawn(process.execPath, command(provider), {
    env: environment({ ...people, ...forwarder, ...variables, LIVE_REPORT: file }),
    stdio: ['ignore', 'pipe', 'ignore'],
    // A group of its own, which ends with the test.
    detached: true,
  });
  const { pid } = child;
  onTestFinished(() => sendSignal(-(pid as number), 'SIGKILL'));
  let pages = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [, url, what = ''] = /Open (\S+) and (.*)/.exec(line) ?? [];
    if (url === undefined) return;
    pages++;
    void payer?.(url, what);
  });
  let status: number | null | undefined;
  child.once('close', (code) => {
    status = code;
  });
  // Those that nobody takes are dropped.
  while (status === undefined) {
    for (const { headers, body } of double.webhooks?.() ?? [])
      await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body: new Uint8Array(body) }).catch(() => {});
    await setTimeout(50);
  }
  const report = readFileSync(file, 'utf8');
  rmSync(folder, { recursive: true });
  await double.close();
  expect(double.violations).toEqual([]);
  const rows = [...report.matchAll(/^\| (.+) \| (.+) \|$/gm)].slice(2);
  return { status, report, pages, findings: new Map(rows.map(([, name = '', text = '']) => [name, text])) };
}

/** The tests of the kit that were not tried, and what was not as expected. */
const others = ({ findings }: Run): string[] =>
  [...findings].filter(([, text]) => text !== 'as expected').map(([name, text]) => `${name}: ${text}`);

const notTried = (name: string, titles: readonly string[]): string[] =>
  titles.map((title) => `${name} conforms > ${title}: not tried`);

/** What only a double can do. */
const ONLY_DOUBLES = [
  'a method that cannot be held is not authorised',
  'a refund that is sent back later is reported as failed',
  'a dispute has its amount, and returns it when it is won',
  'a capture and a refund that were made elsewhere have their amounts',
  'webhooks are accepted while the secret is changed',
];
const PEOPLE = 'Webhooks: received through a forwarder. Payer: a person.';

const paypalVariables = ({ credentials, url }: PaypalDouble): Variables => ({
  PAYPAL_TEST_CLIENT_ID: credentials.client_id,
  PAYPAL_TEST_CLIENT_SECRET: credentials.client_secret,
  PAYPAL_WEBHOOK_ID: credentials.webhook_id,
  PAYPAL_LIVE_ORIGIN: url,
});
const checkoutVariables = ({ credentials, url }: CheckoutDouble): Variables => ({
  CHECKOUT_TEST_KEY: credentials.secret_key,
  CHECKOUT_TEST_CHANNEL: credentials.processing_channel_id,
  CHECKOUT_WEBHOOK_SECRET: credentials.webhook_secret,
  CHECKOUT_LIVE_ORIGIN: url,
});

/** A run takes some 20 seconds on an idle machine. */
const PATIENCE_MS = 300_000;

test(
  'PayPal: a person pays on its pages, and PayPal is told to decline',
  async () => {
    const double = await startPaypal();
    const payer: Payer = (url) => void double.approve(url);
    const done = await run('paypal', paypalVariables(double), double, payer, await freePort());
    expect(others(done)).toEqual(notTried('paypal (sandbox)', ONLY_DOUBLES));
    for (const title of [
      'paypal (sandbox) conforms > declines with a reason, and moves no money',
      'paypal (sandbox) conforms > sends the payer to the provider; the return and the webhook bring the outcome',
      'refusals that PayPal is told to give move no money, and the same calls succeed after them',
      'a first payment leaves a token, and its repetition is made once',
    ])
      expect(done.findings.get(title), title).toBe('as expected');
    expect(done).toMatchObject({ status: 0, pages: 21, report: expect.stringContaining(PEOPLE) });
  },
  PATIENCE_MS,
);

test(
  'Checkout.com: test cards, a person who authenticates, and operations that are awaited',
  async () => {
    const double = await startCheckout();
    const payer: Payer = (url) => void double.finish(url);
    const done = await run('checkout', checkoutVariables(double), double, payer, await freePort());
    expect(others(done)).toEqual(notTried('checkout (sandbox)', ONLY_DOUBLES));
    for (const title of [
      'checkout (sandbox) conforms > sends the payer to the provider; the return and the webhook bring the outcome',
      ...['capture', 'void', 'refund'].map(
        (verb) => `Checkout.com accepts the request of a ${verb}, and its webhook reports it`,
      ),
      'a payer who has authenticated has paid',
      'a card with insufficient funds is declined by its code',
      'a first payment leaves a token, and its repetition is made once',
    ])
      expect(done.findings.get(title), title).toBe('as expected');
    expect(done).toMatchObject({ status: 0, pages: 4, report: expect.stringContaining(PEOPLE) });
  },
  PATIENCE_MS,
);

test(
  'a key that Checkout.com does not accept, without a payer: the report says so, without the credentials',
  async () => {
    const double = await startCheckout();
    const wrong = {
      ...checkoutVariables(double),
      CHECKOUT_TEST_KEY: 'sk_sbox_wrong7kqy3ffm2gxb5o4sjvm',
      // Credentials that the report would contain.
      CHECKOUT_TEST_CHANNEL: 'What the provider did',
      CHECKOUT_API_PREFIX: 'Turnpike',
    };
    const done = await run('checkout', wrong, double);
    expect(done.status).toBe(1);
    expect(done.report.split('\n')).toEqual(
      expect.arrayContaining([
        '# checkout: what the provider did',
        expect.stringMatching(/^\[removed\] [\d.]+, Node v/),
        'Webhooks: not received. Payer: nobody.',
        '| Test of the kit | [removed] |',
      ]),
    );
    const repetition = 'a first payment leaves a token, and its repetition is made once';
    expect(done.findings.get(repetition)).toMatch(/Checkout\.com.*401/);
    const withPayer = [
      'sends the payer to the provider; the return and the webhook bring the outcome',
      'webhooks: repeated, several at once, with a wrong signature',
    ];
    expect(others(done)).toEqual(expect.arrayContaining(notTried('checkout (sandbox)', withPayer)));
  },
  PATIENCE_MS,
);

test(
  'Adyen: the kit, and operations whose webhooks are read',
  async () => {
    const double = await startAdyen();
    const { merchant_account, hmac_key } = double.credentials;
    const variables = {
      ADYEN_TEST_KEY: double.credentials.api_key,
      ADYEN_TEST_MERCHANT_ACCOUNT: merchant_account,
      ADYEN_HMAC_KEY: hmac_key,
      ADYEN_LIVE_ORIGIN: double.url,
    };
    const done = await run('adyen', variables, double, undefined, await freePort());
    expect(others(done).filter((each) => !each.endsWith(': not tried'))).toEqual([]);
    for (const verb of ['capture', 'void', 'refund'])
      expect(done.findings.get(`Adyen accepts the request of a ${verb}, and its webhook reports it`)).toBe(
        'as expected',
      );
    expect(done.status).toBe(0);
  },
  PATIENCE_MS,
);

test(
  'Mollie: a person chooses the outcome on its pages, and Mollie sends its webhooks',
  async () => {
    const double = await startMollie();
    const port = await freePort();
    const variables = {
      MOLLIE_TEST_KEY: API_KEY,
      MOLLIE_LIVE_ORIGIN: double.url,
      LIVE_WEBHOOK_URL: `http://127.0.0.1:${port}/`,
    };
    const payer: Payer = async (url, what) => {
      const id = url.slice(url.lastIndexOf('/') + 1);
      if (what.includes('Failed')) double.finish(id, PaymentStatus.failed, 'insufficient_funds');
      else double.pay(id);
      await double.notify(id);
    };
    const done = await run('mollie', variables, double, payer, port);
    expect(others(done).filter((each) => !each.endsWith(': not tried'))).toEqual([]);
    expect(done).toMatchObject({ status: 0, report: expect.stringContaining(PEOPLE) });
  },
  PATIENCE_MS,
);
