/** The pages of payers and the simulator console. */
import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decimalText, formatAmount, instalments } from '../../simulator/money.ts';
import { CURRENCIES } from '../../src/rules/currencies.ts';
import { startTestSimulator, type TestSimulator, waitUntil } from './test-simulator.ts';

let simulator: TestSimulator;
beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterAll(() => simulator.close());

const opened = async (fields: Record<string, unknown> = {}) => {
  const { reference } = (await simulator.submit({ brand: 'bank-a', ...fields })).body;
  return { reference, page: (await simulator.details(reference)).payer_page as string };
};
const textOf = async (url: string): Promise<string> => (await fetch(url)).text();

describe('every page', () => {
  test.each([
    ['an unknown page', () => `${simulator.url}/pay/0123456789abcdef0123456789abcdef`],
    ['an unknown path', () => `${simulator.url}/nothing/here`],
  ])('%s is complete, without scripts and external resources', async (_name, url) => {
    await expectGoodPage(await fetch(url()));
  });

  test.each(['hosted-a', 'bank-a', 'bnpl-a', 'crypto-a', 'upi-a', 'transfer-a', 'transfer-b', 'ips', 'pin-a'])(
    'so is the page of %s',
    async (brand) => {
      const { page } = await opened({ brand });
      await expectGoodPage(await fetch(page));
    },
  );

  async function expectGoodPage(response: Response): Promise<void> {
    const text = await response.text();
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(text).toContain('Provider simulator. No real money.');
    expect(text).toContain('name="viewport"');
    expect(text).not.toMatch(/<script|<link|<img|src=|@import|url\(/i);
    expect(text).toMatch(/<\/html>\n$/);
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; form-action *; base-uri 'none'; frame-ancestors 'none'",
    );
  }

  test('an unknown token is 404, also for a decision', async () => {
    const url = `${simulator.url}/pay/0123456789abcdef0123456789abcdef`;
    expect((await fetch(url)).status).toBe(404);
    expect((await simulator.decide(url, { decision: 'approve' })).status).toBe(404);
  });
});

describe('the payer’s page', () => {
  test('shows amount, merchant and description, escaped', async () => {
    const { page, reference } = await opened({
      merchant: { mid: 'mid-1', name: 'Tea & "Co" <b>' },
      description: '<script>alert(1)</script>',
      amount: '123456',
    });
    const text = await textOf(page);
    expect(text).toContain('€1,234.56');
    expect(text).toContain(reference);
    expect(text).toContain('Tea &amp; &quot;Co&quot; &lt;b&gt;');
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    for (const value of ['approve', 'decline', 'leave']) expect(text).toContain(`name="decision" value="${value}"`);
  });

  test('leaving the page keeps the payment open', async () => {
    const { page, reference } = await opened();
    expect(await simulator.decide(page, { decision: 'leave' })).toMatchObject({
      status: 303,
      location: 'https://shop.example/return',
    });
    expect((await simulator.query(reference)).body.status).toBe('redirect');
    expect(simulator.receiver.forPayment(reference)).toEqual([]);
  });

  test.each([
    ['approve', 'decline', 'settled', 'The payment is complete.'],
    ['decline', 'approve', 'declined', 'The payer declined the payment.'],
  ])(
    'after %s a second decision has no effect, and the page shows the result',
    async (first, second, status, sentence) => {
      const { page, reference } = await opened();
      await simulator.decide(page, { decision: first });
      expect((await simulator.decide(page, { decision: second })).status).toBe(303);
      expect((await simulator.decide(page, { decision: first })).status).toBe(303);
      await waitUntil(() => simulator.receiver.forPayment(reference).length === 1);
      expect((await simulator.query(reference)).body.status).toBe(status);
      const text = await textOf(page);
      expect(text).toContain(sentence);
      expect(text).toContain('href="https://shop.example/return"');
      expect(text).not.toContain('<form');
    },
  );

  test('without a return address the payer stays on the page', async () => {
    const { page } = await opened({ return_url: '' });
    expect((await simulator.decide(page, { decision: 'approve' })).location).toBe(new URL(page).pathname);
  });

  test('an unknown decision is refused', async () => {
    const { page, reference } = await opened();
    for (const form of [{}, { decision: 'maybe' }]) {
      expect((await simulator.decide(page, form as Record<string, string>)).status).toBe(400);
    }
    expect((await simulator.query(reference)).body.status).toBe('redirect');
  });

  test('hosted-a: the payer chooses one of the offered methods', async () => {
    const { page, reference } = await opened({ brand: 'hosted-a', methods: ['S1', 'S3'] });
    const text = await textOf(page);
    expect([...text.matchAll(/name="method" value="(\w+)"/g)].map(([, method]) => method)).toEqual(['S1', 'S3']);
    const refused = await simulator.decide(page, { decision: 'approve', method: 'S2' });
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('Please choose how you want to pay.'),
    ]);
    await simulator.decide(page, { decision: 'approve', method: 'S3' });
    expect((await simulator.query(reference)).body).toMatchObject({ status: 'settled', method: 'S3' });
  });

  test('transfer, QR code, loan and crypto pages show their details', async () => {
    const transfer = await simulator.submit({ brand: 'transfer-b', currency: 'MXN' });
    const { payer_page } = await simulator.details(transfer.body.reference);
    expect(await textOf(payer_page)).toContain(transfer.body.instructions.account_number);
    expect(await textOf((await opened({ brand: 'ips' })).page)).toContain('<svg viewBox="0 0 ');
    const loan = await textOf((await opened({ brand: 'bnpl-a' })).page);
    for (const part of ['€3.34', '€3.33']) expect(loan).toContain(part);
    const coins = { brand: 'crypto-a', parameters: { payment_currency: 'BTC' } };
    expect(await textOf((await opened(coins)).page)).toMatch(/BTC address<\/p><code class="copy">sim1[0-9a-f]{38}</);
  });
});

describe('the console', () => {
  test('lists payments with their buttons, newest first', async () => {
    const bank = await opened();
    const ips = await opened({ brand: 'ips' });
    const text = await textOf(`${simulator.url}/`);
    expect(text.indexOf(ips.reference)).toBeLessThan(text.indexOf(bank.reference));
    const formOf = (reference: string) => text.split(`action="/console/${reference}"`)[1]?.split('</form>')[0] ?? '';
    const buttonsOf = (reference: string) =>
      [...formOf(reference).matchAll(/value="(\w+)"/g)].map(([, action]) => action);
    expect(buttonsOf(bank.reference)).toEqual(['Approve', 'Decline']);
    expect(buttonsOf(ips.reference)).toEqual(['ACSC', 'RJCT', 'PDNG']);
    expect(text).not.toContain('http-equiv="refresh"');
  });

  test('has one script, which its policy names, and which can reach the simulator only', async () => {
    const response = await fetch(`${simulator.url}/`);
    const scripts = [...(await response.text()).matchAll(/<script>(.*?)<\/script>/gs)].map(
      ([, script]) => script ?? '',
    );
    expect(scripts).toHaveLength(1);
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; form-action *; base-uri 'none'; frame-ancestors 'none'; " +
        `script-src 'sha256-${hash('sha256', scripts[0] ?? '', 'base64')}'; connect-src 'self'`,
    );
  });

  test.each([
    ['Approve', { brand: 'upi-a' }, { status: 'settled' }],
    ['Decline', { brand: 'upi-a' }, { status: 'declined' }],
    ['ACSC', { brand: 'ips' }, { code: 'ACSC' }],
    ['RJCT', { brand: 'ips' }, { code: 'RJCT' }],
    ['PDNG', { brand: 'ips' }, { code: 'PDNG' }],
    ['Chargeback', { brand: 'pin-a' }, { type: 'chargeback' }],
  ])('%s has its effect', async (action, fields, notification) => {
    const { reference } = await opened(fields);
    expect(await simulator.decide(`${simulator.url}/console/${reference}`, { action })).toMatchObject({
      status: 303,
      location: '/',
    });
    await waitUntil(() => simulator.receiver.forPayment(reference).length === 1);
    expect(simulator.receiver.forPayment(reference)[0]?.body).toMatchObject(notification);
  });

  test('an outdated button has no effect', async () => {
    const { reference } = await opened({ brand: 'pin-a' });
    for (const action of ['Approve', 'Decline', 'RJCT']) {
      expect((await simulator.decide(`${simulator.url}/console/${reference}`, { action })).status).toBe(303);
    }
    expect((await simulator.query(reference)).body.status).toBe('settled');
    expect((await simulator.decide(`${simulator.url}/console/${reference}`, { action: 'Explode' })).status).toBe(404);
  });
});

test.each([
  [{}, 303],
  [{ 'sec-fetch-site': 'same-origin' }, 303],
  [{ 'sec-fetch-site': 'none' }, 303],
  [{ 'sec-fetch-site': 'same-site' }, 403],
  [{ 'sec-fetch-site': 'cross-site' }, 403],
])('a form with the headers %j has the status %i', async (headers, status) => {
  const { page, reference } = await opened();
  expect((await simulator.decide(page, { decision: 'decline' }, headers as Record<string, string>)).status).toBe(
    status,
  );
  expect((await simulator.query(reference)).body.status).toBe(status === 303 ? 'declined' : 'redirect');
  const consoleUrl = `${simulator.url}/console/${reference}`;
  expect((await simulator.decide(consoleUrl, { action: 'Approve' }, headers as Record<string, string>)).status).toBe(
    status,
  );
});

test.each([
  ['1', 'EUR', '€0.01'],
  ['123456', 'EUR', '€1,234.56'],
  ['1200', 'JPY', '¥1,200'],
  ['1234', 'KWD', 'KWD 1.234'],
  ['100000', 'INR', '₹1,000.00'],
  ['123456', 'RSD', 'RSD 1,234.56'],
  ['150', 'USDT', '1.50 USDT'],
  ['999999999999999999', 'EUR', '€9,999,999,999,999,999.99'],
])('%s minor units of %s are shown as %s', (amount, currency, shown) => {
  expect(formatAmount(amount, currency).replaceAll('\u00a0', ' ')).toBe(shown);
});

test('the simulator has the fraction digits of every currency of the gateway', () => {
  for (const [code, { exponent }] of Object.entries(CURRENCIES)) {
    expect([code, decimalText('1', code).split('.')[1]?.length ?? 0]).toEqual([code, exponent]);
  }
});

test('instalments add up to the amount', () => {
  expect(instalments('10000', 3)).toEqual(['3334', '3333', '3333']);
  expect(instalments('2', 3)).toEqual(['1', '1', '0']);
});
