/** The payment page asks the payer for fields that the merchant did not send: exactly those, once, and safely. */
import { describe, expect, test } from 'vitest';
import type { Connector, Outcome } from '../../src/connectors/connector.ts';
import { createVcard } from '../../src/connectors/vcard.ts';
import { recordPayerInput } from '../../src/core/payments/record.ts';
import { BRAND_EXPECTATIONS, without } from '../support/brand-expectations.ts';
import {
  type Answer,
  type Fields,
  type Merchant,
  openShop,
  PROVIDER_POLL,
  saleFields,
  startTestGateway,
} from '../support/gateway.ts';
import { allowBursts } from '../support/limits.ts';
import { expectSafe, withoutScript } from '../support/pages.ts';

allowBursts();

const shop = openShop({ simulator: true });

const p = (name: string): string => `parameters[${name}]`;
const ACCOUNT = [p('orgCode'), p('accountName'), p('accountNumber')];
const IDENTITY = [p('personal_id')];

interface BrandCase {
  brand: string;
  country: string;
  /** The fields that the page asks for when none of them was sent, in their order. */
  asks: string[];
  /** Where the payer is afterwards. */
  goes: 'at the provider' | 'waiting';
  currency?: string;
}

const CASES: BrandCase[] = [
  { brand: 'upi-a', country: 'IN', asks: IDENTITY, goes: 'waiting' },
  { brand: 'local-b', country: 'PE', asks: [p('document_number'), p('document_type')], goes: 'at the provider' },
  { brand: 'hosted-a', country: 'DE', asks: [p('product_name'), p('product_quantity')], goes: 'at the provider' },
  { brand: 'transfer-a', country: 'AR', asks: ['bank_cuil'], goes: 'waiting', currency: 'ARS' },
  { brand: 'transfer-b', country: 'MX', asks: ['bank_curp'], goes: 'waiting', currency: 'MXN' },
  { brand: 'agg-a', country: 'TR', asks: ACCOUNT, goes: 'at the provider' },
  { brand: 'agg-b', country: 'TR', asks: ACCOUNT, goes: 'at the provider' },
  { brand: 'agg-c', country: 'TH', asks: ACCOUNT, goes: 'at the provider' },
  { brand: 'agg-d', country: 'TH', asks: ACCOUNT, goes: 'at the provider' },
  { brand: 'agg-e', country: 'VN', asks: IDENTITY, goes: 'at the provider' },
  { brand: 'agg-f', country: 'VN', asks: IDENTITY, goes: 'at the provider' },
  { brand: 'agg-g', country: 'VN', asks: IDENTITY, goes: 'at the provider' },
  { brand: 'agg-h', country: 'CO', asks: IDENTITY, goes: 'at the provider' },
  { brand: 'agg-i', country: 'IN', asks: IDENTITY, goes: 'at the provider' },
  { brand: 'agg-j', country: 'TR', asks: IDENTITY, goes: 'at the provider' },
];
const BY_BRAND = new Map(CASES.map((row) => [row.brand, row]));

/** Valid values for the fields of a brand. */
const validValues = (brand: string, names: readonly string[]): Fields => {
  const complete = BRAND_EXPECTATIONS[brand]?.complete ?? {};
  return Object.fromEntries(names.map((name) => [name, complete[name] ?? '']));
};

/** A sale of the brand without any of the fields that can be asked for, plus the given fields. */
async function openSale(brand: string, fields: Fields = {}, merchant: Merchant = shop.merchant) {
  const { country = '', currency = 'USD' } = BY_BRAND.get(brand) ?? {};
  const bare = without(BRAND_EXPECTATIONS[brand]?.complete ?? {}, ...(BRAND_EXPECTATIONS[brand]?.asked ?? []));
  const usual = { brand, identifier: '', ...bare, payer_country: country, order_currency: currency };
  const request = saleFields(merchant, { ...usual, ...fields });
  const { body } = await shop.post(request);
  return { body, request, id: body.trans_id as string, url: body.redirect_url as string };
}

interface FetchedPage {
  status: number;
  text: string;
  location: string;
  headers: Headers;
}

async function show(url: string, init: RequestInit = {}): Promise<FetchedPage> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  const { status, headers } = response;
  return { status, headers, text: await response.text(), location: headers.get('location') ?? '' };
}
const fill = (url: string, form: Fields): Promise<FetchedPage> =>
  show(url, { method: 'POST', body: new URLSearchParams(form) });

const inputs = (page: string): string[] =>
  [...page.matchAll(/<(?:input|select|textarea)\b[^>]*\bname="([^"]*)"/g)]
    .map(([, name]) => name ?? '')
    // Every form carries the number of its attempt.
    .filter((name) => name !== 'attempt');
const marked = (page: string): string[] =>
  [...page.matchAll(/<input\b[^>]*>/g)]
    .filter(([input]) => input.includes('aria-invalid="true"'))
    .map(([input]) => /name="([^"]*)"/.exec(input)?.[1] ?? '');

const submissions = async (id: string): Promise<number> =>
  (await shop.inspect(id)).provider_calls.filter((call: { verb: string }) => call.verb === 'submit').length;
const atProvider = async (id: string): Promise<{ status: number; body: Answer['body'] }> => {
  const { url = '', key = '' } = shop.provider ?? {};
  const response = await fetch(`${url}/control/payments/${id}`, { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, body: await response.json() };
};

describe.each(CASES)('$brand from $country', ({ brand, asks, goes }) => {
  test('asks for exactly the missing fields, and the provider is not called yet', async () => {
    const { body, id, url } = await openSale(brand);
    expect(body).toMatchObject({ result: 'REDIRECT', status: 'REDIRECT', redirect_method: 'GET', redirect_params: {} });
    expect(url.startsWith(`${shop.url}/pay/${id}.`)).toBe(true);
    const { status, text } = await show(url);
    expect(status).toBe(200);
    expect(inputs(text)).toEqual(asks);
    expect((await atProvider(id)).status).toBe(404);
  });

  test('gives each input a label and no value', async () => {
    const { text } = await show((await openSale(brand)).url);
    for (const [input] of text.matchAll(/<input\b(?![^>]*type="hidden")[^>]*>/g)) {
      const [, inputId = '?'] = /\bid="([^"]*)"/.exec(input) ?? [];
      expect(text).toMatch(new RegExp(`<label for="${inputId}">[^<]+</label>`));
      expect(input).toContain('value=""');
    }
  });

  test('marks every input when nothing is filled in, and changes nothing', async () => {
    const { id, url } = await openSale(brand);
    for (const form of [{}, Object.fromEntries(asks.map((name) => [name, ' ']))]) {
      const { status, text } = await fill(url, form);
      expect(status).toBe(422);
      expect(inputs(text)).toEqual(asks);
      expect(marked(text)).toEqual(asks);
    }
    expect(await shop.events(id)).toEqual(['opened', 'redirected']);
    expect((await atProvider(id)).status).toBe(404);
  });

  test(`stores valid values, submits the payment, and the payer is ${goes}`, async () => {
    const { id, url } = await openSale(brand);
    const { status, location } = await fill(url, validValues(brand, asks));
    expect(status).toBe(303);
    const provider = await atProvider(id);
    expect(provider.status).toBe(200);
    expect(await submissions(id)).toBe(1);
    const { details, status: state } = await shop.inspect(id);
    const expected = Object.entries(validValues(brand, asks)).map(([name, value]) => [
      name.replace(/^parameters\[(.+)\]$/, '$1'),
      value,
    ]);
    expect(details.parameters).toMatchObject(Object.fromEntries(expected));
    expect(state).toBe(goes === 'waiting' ? 'PENDING' : 'REDIRECT');
    expect(location).toBe(goes === 'waiting' ? new URL(url).pathname : provider.body.payer_page);
  });

  test('applies the checks of the API', async () => {
    const { id, url } = await openSale(brand);
    const right = validValues(brand, asks);
    for (const name of asks) {
      for (const [wrong] of BRAND_EXPECTATIONS[brand]?.bad?.[name] ?? []) {
        // The page trims input, so a value that is wrong only by its blanks is accepted.
        if (wrong.trim() !== wrong) continue;
        const { status, text } = await fill(url, { ...right, [name]: wrong });
        expect([status, marked(text)], wrong.slice(0, 50)).toEqual([422, [name]]);
      }
    }
    expect(await shop.events(id)).toEqual(['opened', 'redirected']);
    expect((await fill(url, right)).status).toBe(303);
  });
});

describe('a part of the fields was sent', () => {
  test.each<[string, Fields, string[]]>([
    ['local-b', { [p('document_number')]: '45678912' }, [p('document_type')]],
    ['local-b', { [p('document_type')]: 'DNI' }, [p('document_number')]],
    ['agg-a', { [p('orgCode')]: '0010' }, [p('accountName'), p('accountNumber')]],
    ['agg-c', { [p('orgCode')]: 'KBANK', [p('accountNumber')]: '0123456789' }, [p('accountName')]],
    ['hosted-a', { [p('product_name')]: 'A red mug' }, [p('product_quantity')]],
    [
      'hosted-a',
      { [p('product_reference_id')]: 'MUG-1', [p('product_sku')]: 'MUG1', [p('product_category')]: 'Kitchen' },
      [p('product_quantity')],
    ],
  ])('%s with %j: the page asks for %j', async (brand, sent, asks) => {
    const { id, url } = await openSale(brand, sent);
    expect(inputs((await show(url)).text)).toEqual(asks);
    expect((await fill(url, validValues(brand, asks))).status).toBe(303);
    const plain = Object.entries({ ...sent, ...validValues(brand, asks) }).map(([name, value]) => [
      name.slice('parameters['.length, -1),
      value,
    ]);
    expect((await shop.inspect(id)).details.parameters).toEqual(Object.fromEntries(plain));
    expect(await submissions(id)).toBe(1);
  });

  test.each([
    ['agg-a', 'DE'],
    ['agg-e', 'DE'],
    ['local-b', 'GT'],
  ])('%s from %s needs nothing: the payer is redirected straight to the provider', async (brand, country) => {
    const { body } = await openSale(brand, { payer_country: country });
    expect(body).toMatchObject({ result: 'REDIRECT' });
    expect(body.redirect_url.startsWith(`${shop.provider?.url}/pay/`)).toBe(true);
  });
});

describe('the form accepts only the fields that it asks for', () => {
  test('a country that the payer adds does not remove the question', async () => {
    const { id, url } = await openSale('local-b');
    const { status, text } = await fill(url, { payer_country: 'GT' });
    expect([status, marked(text)]).toEqual([422, [p('document_number'), p('document_type')]]);
    expect(await shop.events(id)).toEqual(['opened', 'redirected']);
  });

  test('the payer cannot replace the merchant’s data', async () => {
    const { id, url } = await openSale('agg-a', { [p('accountName')]: 'Ayşe Yılmaz' });
    const form = { ...validValues('agg-a', [p('orgCode'), p('accountNumber')]), [p('accountName')]: 'x'.repeat(500) };
    expect((await fill(url, form)).status).toBe(303);
    expect((await shop.inspect(id)).details.parameters.accountName).toBe('Ayşe Yılmaz');
  });

  test('ignores other fields of the brand', async () => {
    const { id, url } = await openSale('hosted-a');
    const form = {
      ...validValues('hosted-a', [p('product_name'), p('product_quantity')]),
      [p('product_url')]: 'javascript:x',
    };
    expect((await fill(url, form)).status).toBe(303);
    expect((await shop.inspect(id)).details.parameters).toEqual({ product_name: 'A red mug', product_quantity: '2' });
  });

  test('the payer cannot change the amount or any other part of the payment', async () => {
    const { id, url } = await openSale('upi-a');
    await fill(url, { ...validValues('upi-a', IDENTITY), order_amount: '0.01', amount: '0.01', order_currency: 'JPY' });
    expect(await shop.inspect(id)).toMatchObject({ amount: '10.00', currency: 'USD' });
    expect((await atProvider(id)).body).toMatchObject({ amount: '1000', currency: 'USD' });
  });

  test.each([
    ['a character that the database cannot store', '\0'],
    ['such a character inside a text', 'KB\0ANK'],
  ])('%s is an input error, not an internal one', async (_, value) => {
    const { id, url } = await openSale('agg-c');
    const { status } = await fill(url, { ...validValues('agg-c', ACCOUNT), [p('orgCode')]: value });
    expect(status).toBe(422);
    expect(await shop.events(id)).toEqual(['opened', 'redirected']);
  });

  test('refuses a body that is far too large, without an internal error', async () => {
    const { id, url } = await openSale('agg-c');
    const { status } = await fill(url, { [p('orgCode')]: 'x'.repeat(100_000) });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(await shop.events(id)).toEqual(['opened', 'redirected']);
  });

  test('a body that is not a form counts as empty', async () => {
    const { id, url } = await openSale('agg-c');
    for (const [type, body] of [
      ['application/json', JSON.stringify(validValues('agg-c', ACCOUNT))],
      ['text/plain', 'hello'],
      ['application/x-www-form-urlencoded', '%E0%A4%A&=&&&===%'],
    ] as const) {
      expect((await show(url, { method: 'POST', body, headers: { 'content-type': type } })).status, type).toBe(422);
    }
    expect((await show(url, { method: 'POST' })).status).toBe(422);
    expect(await shop.events(id)).toEqual(['opened', 'redirected']);
  });
});

describe('hostile texts', () => {
  const SCRIPT = '<script>alert("1")</script>';
  const HOSTILE = `"><img src=x onerror=alert(1)> ' ${SCRIPT}`;

  test('of the merchant are escaped', async () => {
    const merchant = await shop.newMerchant({ name: SCRIPT });
    const fields = { order_description: HOSTILE, order_id: `<b>${Date.now()}</b>` };
    const { url } = await openSale('agg-a', fields, merchant);
    const { text } = await show(url);
    expect(withoutScript(text)).not.toMatch(/<script|<img|<b>/);
    expect(text).toContain(
      '&lt;img src=x onerror=alert(1)&gt; &#39; &lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;',
    );
    expect(text).toContain('&lt;b&gt;');
  });

  test('of the payer are escaped in their inputs', async () => {
    const { url } = await openSale('agg-a');
    const { status, text } = await fill(url, { [p('orgCode')]: HOSTILE, [p('accountName')]: 'x'.repeat(65) });
    expect(status).toBe(422);
    expect(withoutScript(text)).not.toMatch(/<script|<img/);
    expect(text).toContain('value="&quot;&gt;&lt;img src=x onerror=alert(1)&gt;');
    expect(text).toContain(`value="${'x'.repeat(65)}"`);
  });

  test('in the return address stay an address', async () => {
    const { url } = await openSale('upi-a', { return_url: 'https://shop.example/?a="><script>alert(1)</script>' });
    await fill(url, validValues('upi-a', IDENTITY));
    const { status, text } = await show(url);
    expect(status).toBe(200);
    expect(text).toContain('Waiting for your payment');
    expect(withoutScript(text)).not.toContain('<script');
  });
});

describe('headers', () => {
  test('every page restricts its content, forbids caching and sends no referrer', async () => {
    const { url } = await openSale('upi-a');
    expectSafe(await show(url));
    expectSafe(await fill(url, {}));
    const sent = await fill(url, validValues('upi-a', IDENTITY));
    expect(sent.status).toBe(303);
    expectSafe(sent);
    expectSafe(await show(url));
    const lost = await show(`${shop.url}/pay/nothing`);
    expect(lost.status).toBe(404);
    expectSafe(lost);
  });

  test('a page loads nothing from other hosts', async () => {
    const { url } = await openSale('agg-a');
    const { text } = await show(url);
    const addresses = [...text.matchAll(/\b(?:src|href|action)="([^"]*)"/g)].map(([, address]) => address);
    const others = addresses.filter((address) => !/^(?:data:|\?lang=)/.test(address ?? ''));
    expect(others).toEqual([new URL(url).pathname]);
  });
});

describe('the form submitted twice', () => {
  test.each(['upi-a', 'agg-a', 'transfer-a'])('%s: ten concurrent submits are one submission', async (brand) => {
    const { asks = [], goes } = BY_BRAND.get(brand) ?? {};
    const { id, url } = await openSale(brand);
    const responses = await Promise.all(Array.from({ length: 10 }, () => fill(url, validValues(brand, asks))));
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(303));
    expect(await submissions(id)).toBe(1);
    expect((await shop.events(id)).filter((event) => event === 'collected')).toEqual(['collected']);
    expect((await shop.inspect(id)).status).toBe(goes === 'waiting' ? 'PENDING' : 'REDIRECT');
  });

  test('with two different inputs, one of them counts as a whole', async () => {
    const { id, url } = await openSale('agg-a');
    const answers = [1, 2].map((one) => ({
      [p('orgCode')]: `bank ${one}`,
      [p('accountName')]: `name ${one}`,
      [p('accountNumber')]: `number ${one}`,
    }));
    await Promise.all(answers.map((answer) => fill(url, answer)));
    const { orgCode, accountName, accountNumber } = (await shop.inspect(id)).details.parameters;
    expect(['1', '2']).toContain(orgCode.slice(-1));
    expect([accountName.slice(-1), accountNumber.slice(-1)]).toEqual([orgCode.slice(-1), orgCode.slice(-1)]);
    expect(await submissions(id)).toBe(1);
  });

  test('a submit after the first one was processed changes nothing', async () => {
    const { id, url } = await openSale('upi-a');
    await fill(url, validValues('upi-a', IDENTITY));
    const before = await shop.inspect(id);
    const { status, location } = await fill(url, { [p('personal_id')]: 'somebody.else@okhdfcbank' });
    expect([status, location]).toEqual([303, new URL(url).pathname]);
    expect(await shop.inspect(id)).toEqual(before);
  });
});

describe('afterwards', () => {
  const reloaded = async (url: string): Promise<string[]> => {
    const pages: string[] = [];
    for (let times = 0; times < 3; times++) pages.push((await show(url)).text);
    return pages;
  };

  test('the page waits, then shows that it is paid, and a reload changes nothing', async () => {
    const { id, url } = await openSale('upi-a');
    await fill(url, validValues('upi-a', IDENTITY));
    for (const page of await reloaded(url)) expect(page).toContain('Waiting for your payment');
    await shop.sandbox('POST', `/payments/${id}`, { provider_status: 'executed' });
    const before = await shop.inspect(id);
    for (const page of await reloaded(url)) {
      expect(page).toContain('Payment complete');
      expect(page).toContain('https://shop.example/return');
      expect(inputs(page)).toEqual([]);
    }
    expect(await shop.inspect(id)).toEqual(before);
  });

  test('the page shows the decline, but not the text of the provider', async () => {
    const { url } = await openSale('upi-a');
    const { status, location } = await fill(url, { [p('personal_id')]: 'fail@okhdfcbank' });
    expect([status, location]).toEqual([303, 'https://shop.example/return']);
    const { text } = await show(url);
    expect(text).toContain('Payment not completed');
    expect(text).not.toContain('The payer declined in their app.');
  });

  test('a payer who never answers is declined after an hour, and the page says so', async () => {
    const merchant = await shop.newMerchant();
    const { id, url } = await openSale('upi-a', {}, merchant);
    await shop.advanceClock(3540, merchant.mid);
    expect(inputs((await show(url)).text)).toEqual(IDENTITY);
    await shop.advanceClock(60, merchant.mid);
    expect((await show(url)).text).toContain('The time to pay is over');
    await fill(url, validValues('upi-a', IDENTITY));
    expect(await shop.inspect(id)).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'The payer did not finish in time.',
    });
    expect(await submissions(id)).toBe(0);
  });

  test('a provider that does not answer: the payer waits, and nothing is decided', async () => {
    const merchant = await shop.newMerchant();
    const { id, url } = await openSale('upi-a', {}, merchant);
    await shop.sandbox('POST', '/faults', { mid: merchant.mid, mode: 'timeout_after' });
    expect((await fill(url, validValues('upi-a', IDENTITY))).status).toBe(303);
    expect((await show(url)).text).toContain('We are checking your payment');
    expect(await shop.inspect(id)).toMatchObject({ status: 'PENDING', in_doubt: true });
  });
});

describe('a process that died right after it stored the payer’s input', () => {
  /** The payer’s input is stored; the provider was not called, or its response was lost. */
  async function storeInput() {
    const merchant = await shop.newMerchant();
    const { id, url } = await openSale('agg-a', {}, merchant);
    const payment = await shop.gateway.payments.findAnywhere(id);
    if (!payment) throw new Error('There is no payment.');
    const parameters = { orgCode: '0010', accountName: 'Ayşe Yılmaz', accountNumber: '6299876543' };
    await recordPayerInput(shop.gateway, payment, { ...payment.details, parameters });
    return { id, url, merchant };
  }

  test('the provider never received it: the payment is declined once no call can be in flight', async () => {
    const { id, url, merchant } = await storeInput();
    expect((await show(url)).text).toContain('Waiting for your payment');
    await shop.advanceClock(30, merchant.mid);
    expect((await shop.inspect(id)).status).toBe('REDIRECT');
    await shop.advanceClock(60, merchant.mid);
    expect((await shop.inspect(id)).status).toBe('REDIRECT');
    await shop.advanceClock(60, merchant.mid);
    expect((await shop.inspect(id)).status).toBe('REDIRECT');
    await shop.advanceClock(30, merchant.mid);
    expect(await shop.inspect(id)).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'The provider never received the payment.',
    });
    expect(await submissions(id)).toBe(0);
  });

  test('the provider has it: the page leads the payer to the provider, where it can be paid', async () => {
    const { id, url, merchant } = await storeInput();
    const { url: provider = '', key = '' } = shop.provider ?? {};
    await fetch(`${provider}/v1/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        reference: id,
        brand: 'agg-a',
        direction: 'in',
        merchant: { mid: merchant.mid, name: 'Test Shop' },
        amount: '1000',
        currency: 'USD',
        notify_url: `${shop.url}/inbound/upstream`,
      }),
    });
    await shop.advanceClock(30, merchant.mid);
    expect(await shop.inspect(id)).toMatchObject({ status: 'REDIRECT', next_step: 'redirect' });
    const page = (await atProvider(id)).body.payer_page;
    expect((await show(url)).text).toContain(`href="${page}"`);
    await fill(page, { decision: 'approve' });
    await expect.poll(async () => (await shop.inspect(id)).status, PROVIDER_POLL).toBe('SETTLED');
  });
});

test('a provider that requires a form post from the payer gets one', async () => {
  const submit = async (): Promise<Outcome> => ({
    kind: 'redirected',
    url: 'https://provider.example/pay?a=1&b=2',
    method: 'POST',
    params: { token: '"><script>', session: '7' },
  });
  const upstream: Connector = { ...createVcard(), submit, query: submit };
  const own = await startTestGateway({ connectors: { upstream } });
  try {
    const { body } = await own.sale({ brand: 'agg-a', identifier: '', payer_country: 'TR' });
    await fill(body.redirect_url, validValues('agg-a', ACCOUNT));
    const { status, text } = await show(body.redirect_url);
    expect(status).toBe(200);
    const [form = ''] = /<form\b[\s\S]*<\/form>/.exec(text) ?? [];
    expect(form).toContain('action="https://provider.example/pay?a=1&amp;b=2"');
    expect(form).toMatch(/method="post"/i);
    expect(inputs(form)).toEqual(['token', 'session']);
    expect(form).toContain('value="&quot;&gt;&lt;script&gt;"');
  } finally {
    await own.close();
  }
});

test('the link of one payment does not open another', async () => {
  const [one, other] = [await openSale('upi-a'), await openSale('upi-a')];
  const mark = one.url.slice(-22);
  const stolen = other.url.slice(0, -22) + mark;
  expect((await show(stolen)).status).toBe(404);
  expect((await fill(stolen, validValues('upi-a', IDENTITY))).status).toBe(404);
  expect(await shop.events(other.id)).toEqual(['opened', 'redirected']);
});

test('a repeat of the sale leads to the same page', async () => {
  const { body, request } = await openSale('agg-a');
  expect((await shop.post(request)).body).toEqual(body);
});
