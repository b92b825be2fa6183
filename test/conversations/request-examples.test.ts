/** The code of the API reference sends what it shows: signed forms and JSON, and calls with a token. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ExampleRequest, examplesOf } from '../../src/pages/docs/request-examples.ts';
import { sessionFields } from '../support/checkout.ts';
import { ADMIN_TOKEN, newOrderId, openShop, saleFields } from '../support/gateway.ts';
import { run } from '../support/process.ts';

const shop = openShop();
let folder: string;
beforeAll(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'turnpike-examples-'));
});
afterAll(() => fs.rm(folder, { recursive: true, force: true }));

const PROGRAMS: Record<string, [command: string, file: string]> = {
  curl: ['sh', 'example.sh'],
  typescript: [process.execPath, 'example.mts'],
  python: ['python3', 'example.py'],
};
const isInstalled = (language: string): boolean =>
  spawnSync(language === 'curl' ? 'curl' : (PROGRAMS[language]?.[0] ?? ''), ['--version']).error === undefined;

/** What the example of a language prints. */
async function answerOf(language: string, request: ExampleRequest) {
  const { text = '' } = examplesOf(request, 'example').find((sample) => sample.language === language) ?? {};
  const [command, name] = PROGRAMS[language] as [string, string];
  const file = join(folder, name);
  await fs.writeFile(file, text.replaceAll('http://127.0.0.1:8080', shop.url));
  const variables = { TURNPIKE_PASSWORD: shop.merchant.password, TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN, LC_ALL: 'C.UTF-8' };
  const program = run(variables, { command, args: [file] });
  await program.ended;
  return JSON.parse(program.output() || JSON.stringify(program.complaints()));
}

describe.each(Object.keys(PROGRAMS).filter(isInstalled))('%s', (language) => {
  test('a signed form', async () => {
    const { hash: _, ...body } = saleFields(shop.merchant, { order_description: "Grandma's tea & cake" });
    const signed = ['identifier', 'order_id', 'order_amount', 'order_currency'].map((name) => body[name] as string);
    const request = { method: 'POST', path: '/post', body, isForm: true, signed };
    expect(await answerOf(language, request)).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
  });

  test('signed JSON', async () => {
    const order = { number: newOrderId(), amount: '19.99', currency: 'USD', description: "Grandma's tea" };
    const body = { ...sessionFields({ order }), merchant_key: shop.merchant.merchant_key };
    const request = { method: 'POST', path: '/api/v1/session', body, signed: Object.values(order) };
    expect(await answerOf(language, request)).toMatchObject({ redirect_url: expect.stringContaining('/pay/') });
  });

  test('calls with a token', async () => {
    const read = { method: 'GET', path: '/admin/api/accounts', needsToken: true };
    expect(await answerOf(language, read)).toMatchObject({ items: [{ mid: shop.merchant.mid }] });
    const write = { ...read, method: 'PATCH', path: `${read.path}/${shop.merchant.mid}`, body: { suspended: false } };
    expect(await answerOf(language, write)).toMatchObject({ suspended: false });
  });
});
