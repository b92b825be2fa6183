/** The guides on callbacks: their tables agree with the rules, and their example servers accept only valid callbacks. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  CALLBACK_ACTIONS,
  CALLBACK_EVENTS,
  CALLBACK_HASH_FIELDS,
  RETRY_SCHEDULE_MS,
} from '../../src/rules/callbacks.ts';
import { checkoutOf } from '../support/checkout.ts';
import type { MerchantWithSecret } from '../support/delivery-shop.ts';
import { freePort } from '../support/free-port.ts';
import { saleFields, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { clearAway, eventually, ROOT, run } from '../support/process.ts';

const guide = (name: string): string => readFileSync(join(ROOT, 'docs', name), 'utf8');
const merchants = guide('merchant/callbacks.md');
const operators = guide('operator/callbacks.md');

test('every callback type is in the table, with its action and its possible results', () => {
  const byType = Map.groupBy(Object.values(CALLBACK_EVENTS), ({ type }) => type);
  const statuses = (type: string): string[] => {
    if (type === 'recurring') return statuses('sale');
    const ofEvents = (byType.get(type as never) ?? []).map(({ status }) => status);
    const isOperation = ['capture', 'void', 'reversal', 'refund'].includes(type);
    return [...new Set([...ofEvents, ...(isOperation ? ['success', 'fail'] : [])])].toSorted();
  };
  const rows = [...merchants.matchAll(/^\| `(\w+)` +\| `([A-Z_]+)` +\| ((?:`\w+`(?:, )?)+) +\|/gm)];
  const written = rows.map(([, type, action, said = '']) => [type, action, (said.match(/\w+/g) ?? []).toSorted()]);
  const wanted = Object.entries(CALLBACK_ACTIONS).map(([type, action]) => [type, action, statuses(type)]);
  expect(written.toSorted()).toEqual(wanted.toSorted());
});

test('the fields of both hashes are listed in order', () => {
  for (const fields of Object.values(CALLBACK_HASH_FIELDS)) {
    expect(merchants).toContain(fields.map((name) => `\`${name}\``).join(', '));
  }
});

test('both guides list the pauses of the retry schedule', () => {
  const words = RETRY_SCHEDULE_MS.map((ms) => {
    if (ms < 60_000) return `${ms / 1000} s`;
    return ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`;
  });
  const sentence = `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
  for (const text of [merchants, operators]) expect(text.replace(/\s+/g, ' ')).toContain(sentence);
});

const LANGUAGES = {
  js: { command: process.execPath, file: 'receive.mjs' },
  python: { command: 'python3', file: 'receive.py' },
};

describe.each(Object.entries(LANGUAGES))('the example server in %s', (language, { command, file }) => {
  const isThere = spawnSync(command, ['--version']).status === 0;
  let shop: TestGateway;
  let folder: string;
  beforeAll(async () => {
    shop = await startTestGateway();
    folder = await mkdtemp(join(tmpdir(), 'turnpike-guide-'));
  });
  afterEach(clearAway);
  afterAll(async () => {
    await shop.close();
    await rm(folder, { recursive: true });
  });

  test.skipIf(!isThere)(
    'accepts valid callbacks of both protocols and formats only (skipped if the language is not installed)',
    async () => {
      const [, code = ''] = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(merchants) ?? [];
      await writeFile(join(folder, file), code);
      const port = await freePort();
      const merchant = shop.merchant as MerchantWithSecret;
      const server = run(
        { PASSWORD: merchant.password, CALLBACK_SECRET: merchant.callback_secret, PORT: String(port) },
        { command, args: [join(folder, file)] },
      );
      const url = `http://127.0.0.1:${port}/`;
      const post = (body: string, headers: Record<string, string> = {}) =>
        fetch(url, { method: 'POST', body, headers });
      await eventually(async () => expect((await post('a=1')).status).toBe(401));
      const strange = { 'webhook-timestamp': 'now', 'webhook-signature': `v1,${'é'.repeat(44)}` };
      // No invalid request crashes the server.
      for (const [name, value] of Object.entries(strange)) {
        const stamp = { 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) };
        expect((await post('a=1', { ...stamp, [name]: value })).status).toBe(401);
      }
      const ids: string[] = [];
      for (const callback_format of ['form', 'json']) {
        await shop.admin('PATCH', `/accounts/${merchant.mid}`, { callback_url: url, callback_format });
        const { body: sale } = await shop.post(saleFields(merchant, { order_description: 'Grüße ☕ + 1/2' }));
        ids.push(sale.trans_id, (await checkoutOf(shop).paid({})).id);
      }
      await shop.gateway.deliverer.drain();
      const { items } = (await shop.admin('GET', `/callbacks?mid=${merchant.mid}`)).body;
      expect(new Set(items.map(({ payment_id }: { payment_id: string }) => payment_id))).toEqual(new Set(ids));
      for (const { id, state } of items) {
        expect([id, state]).toEqual([id, 'delivered']);
        await expect.poll(() => server.output()).toContain(`new ${id}`);
      }
      await shop.admin('POST', '/callbacks/resend', { payment_id: ids[0] });
      await shop.gateway.deliverer.drain();
      await expect.poll(() => server.output()).toContain(`again ${ids[0]}`);
      const other = await shop.newMerchant({ callback_url: url });
      await shop.post(saleFields(other));
      await shop.gateway.deliverer.drain();
      const [foreign] = (await shop.admin('GET', `/callbacks?mid=${other.mid}`)).body.items;
      expect(foreign).toMatchObject({ state: 'waiting', tries: 1 });
    },
  );
});
