/** What operators see of the installation itself, in the admin API and in the panel. */
import { expect, test } from 'vitest';
import { openShop } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';

const shop = openShop();

test('the admin API names version, database and background work', async () => {
  const { status, body } = await shop.admin('GET', '/installation');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    environment: 'sandbox',
    public_url: shop.url,
    has_mail_server: false,
    database: { version: expect.stringMatching(/^\d+/), migration: expect.stringMatching(/^\d{4}_\w+\.sql$/) },
  });
  expect(body.database.size_bytes).toBeGreaterThan(1_000_000);
  expect(body.projections.map(({ name }: { name: string }) => name).toSorted()).toEqual([
    'callbacks',
    'ledger',
    'reports',
    'search',
  ]);
});

test('the panel shows it to those who see all accounts', async () => {
  const owner = await signedIn(shop, 'owner');
  expect((await owner.get('/admin')).text).toContain('href="/admin/installation"');
  expect((await owner.get('/admin/installation')).text).toMatch(/PostgreSQL \d+/);
  const restricted = await signedIn(shop, 'owner', [shop.merchant.mid]);
  expect((await restricted.get('/admin')).text).not.toContain('href="/admin/installation"');
  expect((await restricted.get('/admin/installation')).status).toBe(403);
});
