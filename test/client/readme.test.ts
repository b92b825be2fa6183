/** The samples of the docs in TypeScript, run as one program for each page, against the real gateway. */
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { MerchantWithSecret } from '../support/delivery-shop.ts';
import { openShop } from '../support/gateway.ts';
import { clearAway, eventually, ROOT, run } from '../support/process.ts';

const shop = openShop();
afterAll(clearAway);

/** What the samples print; a comment beside a `console.log` says the same. */
const PRINTED: Record<string, RegExp> = {
  'client/README.md':
    /^redirect the payer to http:\S+\/pay\/\S+\nprepare\nsend the payer http:\S+\/l\/\S+\nSUCCESS SETTLED\nACCEPTED\namount A decimal with .+, such as 19\.99\.\n$/,
  'docs/merchant/quick-start.md': /^SETTLED\n$/,
};

test.each(Object.entries(PRINTED))('the samples of %s work', async (page, printed) => {
  const text = await readFile(join(ROOT, page), 'utf8');
  const samples = [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code);
  expect(samples).not.toEqual([]);
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-samples-'));
  try {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'sample.mts'), samples.join('\n'));
    const { client_key, merchant_key, password, callback_secret } = shop.merchant as MerchantWithSecret;
    const variables = {
      PORT: '0',
      TURNPIKE_URL: shop.url,
      TURNPIKE_CLIENT_KEY: client_key,
      TURNPIKE_MERCHANT_KEY: merchant_key,
      TURNPIKE_PASSWORD: password,
      TURNPIKE_CALLBACK_SECRET: callback_secret,
    };
    const program = run(variables, { args: ['--conditions=turnpike-source', join(folder, 'sample.mts')] });
    await eventually(() => expect(program.output() + program.complaints()).toMatch(printed));
  } finally {
    await clearAway();
    await rm(folder, { recursive: true });
  }
});
