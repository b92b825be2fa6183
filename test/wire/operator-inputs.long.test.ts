/** Hostile values in every admin and sandbox call are refused with the name of the field, never with an internal error. */
import { describe, expect, test } from 'vitest';
import { entryOf } from '../support/entries.ts';
import { openShop } from '../support/gateway.ts';

const shop = openShop({ simulator: true });
const UUID = '01990000-0000-7000-8000-0123456789ab';

test.each([999_999_999_999_999, 253_402_300_800_000, 8_640_000_000_000_001])(
  'refuses a schedule cursor with the time %i',
  async (ms) => {
    const { status, body } = await shop.admin('GET', `/schedules?cursor=${ms}.${UUID}.${UUID}`);
    expect(status).toBe(400);
    expect(body.errors).toEqual([entryOf('cursor: This value is not valid.')]);
  },
);

const INVALID_MIDS: unknown[] = [{ toString: 'x' }, { valueOf: 1, toString: null }, [], [UUID], 1, true, '', 'x'];
test.each(INVALID_MIDS.map((mid) => ({ mid, text: JSON.stringify(mid) })))(
  'refuses to move the clock of account $text',
  async ({ mid }) => {
    const { status, body } = await shop.admin('POST', '/clock', { advance_seconds: 1, mid });
    expect(status).toBe(400);
    expect(body.errors).toEqual([entryOf('mid: This is not a valid UUID.')]);
  },
);

const TEXTS = [
  '-1',
  '0',
  '1e99',
  '999999999999999',
  '9'.repeat(30),
  '0001-01-01',
  '9999-12-31T23:59:59+00:00',
  '9999-12-31T23:59:59-23:59',
  '0000-00-00',
  '%00',
  '%ff',
  '%ed%a0%80',
  '__proto__',
  `${UUID}.999999`,
  `${UUID}.99999999999999999999`,
  `${UUID}.-1`,
  `999999999999999.${UUID}.${UUID}`,
];
const QUERIES: Record<string, string[]> = {
  '/admin/api/accounts': ['limit', 'cursor'],
  '/admin/api/payments': [
    'q',
    'mid',
    'order_id',
    'status',
    'brand',
    'attention',
    'schedule_id',
    'from',
    'to',
    'cursor',
  ],
  '/admin/api/payments.csv': ['q', 'mid', 'order_id', 'status', 'brand', 'schedule_id', 'from', 'to'],
  '/admin/api/callbacks': ['mid', 'payment_id', 'state', 'from', 'to', 'limit', 'cursor'],
  '/admin/api/chargebacks': ['mid', 'state', 'from', 'to', 'limit', 'cursor'],
  '/admin/api/schedules': ['mid', 'limit', 'cursor'],
  '/admin/api/notifications': ['state', 'limit'],
  '/admin/api/clock': ['mid'],
  '/admin/api/overview': ['from', 'to', 'mid'],
  '/admin/api/reports': ['from', 'to', 'mid', 'group_by'],
  '/admin/api/reports.csv': ['from', 'to', 'mid', 'group_by'],
  '/sandbox/api/ledger': ['after'],
  [`/sandbox/api/callbacks/${UUID}`]: ['after', 'limit', 'wait'],
};
const PATHS = [
  '/admin/api/accounts/{}',
  '/admin/api/payments/{}',
  '/admin/api/callbacks/{}',
  '/admin/api/chargebacks/{}/evidence',
  '/sandbox/api/callbacks/{}',
];

const call = (path: string, method = 'GET', body?: unknown) => {
  const [, adapter, rest] = /^\/(admin|sandbox)\/api(.*)$/.exec(path) as unknown as [
    string,
    'admin' | 'sandbox',
    string,
  ];
  return shop[adapter](method, rest, body);
};

describe('query parameters and paths', () => {
  test.each(Object.entries(QUERIES))('%s', async (path, names) => {
    for (const name of names) {
      for (const text of TEXTS) {
        const { status } = await call(`${path}?${name}=${text}`);
        expect([200, 400, 404], `${name}=${text}`).toContain(status);
        expect((await call(`${path}?${name}=${text}&${name}=${text}`)).status, `${name} twice`).toBeLessThan(500);
      }
    }
  });

  test.each(PATHS)('%s', async (path) => {
    for (const text of TEXTS) {
      expect([200, 400, 404], text).toContain((await call(path.replace('{}', text))).status);
    }
  });
});

const VALUES: unknown[] = [
  null,
  true,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '',
  '\0',
  '\ud800',
  'x'.repeat(5000),
  [],
  [[]],
  [null],
  {},
  { toString: 'x' },
  { toString: null, valueOf: null },
  { length: 3 },
  { constructor: 1 },
];
const BODIES: [method: string, path: string, good: Record<string, unknown>, names: string[]][] = [
  ['POST', '/admin/api/clock', { advance_seconds: 0 }, ['advance_seconds', 'mid']],
  ['POST', '/admin/api/explain', { mid: '{mid}', request: 'action=VOID' }, ['mid', 'request', 'path']],
  ['POST', '/admin/api/callbacks/resend', {}, ['mid', 'payment_id', 'state', 'from', 'to']],
  ['POST', '/admin/api/payments/{payment}/capture', {}, ['amount']],
  ['POST', '/admin/api/payments/{payment}/refund', {}, ['amount']],
  ['POST', '/sandbox/api/faults', { mode: 'none' }, ['mid', 'brand', 'mode', 'count']],
  ['POST', '/sandbox/api/payments/{payment}', {}, ['provider_status', 'bank_callback', 'chargeback']],
  ['POST', '/sandbox/api/callbacks/{mid}', { answer: 200 }, ['answer', 'count']],
  [
    'PATCH',
    '/admin/api/accounts/{mid}',
    {},
    ['name', 'settings', 'brands', 'brand_aliases', 'branding', 'callback_url', 'requests_per_second', 'vcard'],
  ],
];

describe('bodies', () => {
  test.each(BODIES)('%s %s', async (method, template, good, names) => {
    const { mid } = await shop.newMerchant();
    const { body: sale } = await shop.sale({ identifier: 'decline@example.com' });
    const path = template.replace('{mid}', mid).replace('{payment}', sale.trans_id);
    for (const value of [...VALUES, undefined]) {
      for (const name of names) {
        const complete = JSON.parse(JSON.stringify(good).replace('{mid}', mid));
        const { status, body } = await call(path, method, { ...complete, [name]: value });
        expect([200, 400], `${name}: ${JSON.stringify(value)} → ${JSON.stringify(body)}`).toContain(status);
      }
      expect((await call(path, method, value ?? 'x')).status, JSON.stringify(value)).toBeLessThan(500);
    }
  });
});
