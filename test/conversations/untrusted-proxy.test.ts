/** A proxy in front of a gateway that does not trust it: what the log and the panel say. */
import { expect, test } from 'vitest';
import { openShop } from '../support/gateway.ts';
import { shortenLimits } from '../support/limits.ts';
import { readable } from '../support/pages.ts';
import { signedUp, Visitor } from '../support/sign-in.ts';

shortenLimits({ passwordHashKib: 1024, passwordHashPasses: 1 });
const shop = openShop();
const trusting = openShop({ trustedProxies: ['127.0.0.1'] });

const FORWARDED = { 'x-forwarded-for': '198.51.100.7' };
const tryToSignIn = ({ url }: typeof shop) =>
  new Visitor(url).post('/admin/sign-in', { email: 'nobody@example.com', password: 'a wrong password' }, FORWARDED);
const NOTICE = 'Requests come through a proxy that the gateway does not trust: 127.0.0.1.';
const warnings = ({ logs }: typeof shop): string[] =>
  logs.filter((line) => line.includes('X-Forwarded-For is ignored'));

test('the gateway warns once in its log, and owners see it in the panel', async () => {
  const owner = await signedUp(shop);
  const viewer = await signedUp(shop, 'viewer');
  expect(readable((await owner.visitor.get('/admin')).text)).not.toContain(NOTICE);
  for (let count = 0; count < 3; count++) await tryToSignIn(shop);
  expect(warnings(shop)).toHaveLength(1);
  expect(warnings(shop)[0]).toContain('"peer":"127.0.0.1"');
  const { text } = await owner.visitor.get('/admin');
  expect(readable(text)).toContain(NOTICE);
  expect(text).toContain('/docs/operator/accounts#addresses-behind-a-proxy');
  expect(readable((await viewer.visitor.get('/admin')).text)).not.toContain(NOTICE);
});

test('a proxy that is trusted is not mentioned', async () => {
  const owner = await signedUp(trusting);
  await tryToSignIn(trusting);
  expect(warnings(trusting)).toEqual([]);
  expect(readable((await owner.visitor.get('/admin')).text)).not.toContain(NOTICE);
});
