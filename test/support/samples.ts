/** Runs the samples of the docs against the real gateway, in the languages that are installed. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { signatureOf } from '../../src/lib/crypto/signature.ts';
import type { MerchantWithSecret } from './delivery-shop.ts';
import { newOrderId, openShop, sign, type TestGateway } from './gateway.ts';
import { clearAway, ROOT, run } from './process.ts';

const samples = join(ROOT, 'docs/samples');

/** A busy machine takes long to compile a sample. */
const COMPILE_MS = 300_000;

interface Language {
  /** The command whose presence decides whether the samples run. */
  command: string;
  probe: string;
  args(sample: string): string[];
}

const LANGUAGES = {
  curl: { command: 'sh', probe: 'curl', args: (sample) => [`${samples}/curl/${sample}.sh`] },
  typescript: {
    command: process.execPath,
    probe: process.execPath,
    args: (sample) => ['--conditions=turnpike-source', `${samples}/typescript/${sample}.ts`],
  },
  php: {
    command: 'php',
    probe: 'php',
    args: (sample) => ['-d', `include_path=${ROOT}/client/php`, `${samples}/php/${sample}.php`],
  },
  python: { command: 'python3', probe: 'python3', args: (sample) => [`${samples}/python/${sample}.py`] },
  go: { command: 'go', probe: 'gofmt', args: (sample) => ['run', `${samples}/go/${sample}.go`] },
  java: {
    command: 'java',
    probe: 'java',
    args: (sample) => [`${samples}/java/${sample.charAt(0).toUpperCase()}${sample.slice(1)}.java`],
  },
  csharp: { command: 'dotnet', probe: 'dotnet', args: (sample) => ['run', `${samples}/csharp/${sample}.cs`] },
} satisfies Record<string, Language>;

const isInstalled = (command: string): boolean => spawnSync(command, ['--version']).error === undefined;

/** Runs a sample, and returns what it prints. */
async function output(
  shop: TestGateway,
  { command, args }: Language,
  sample: string,
  values: readonly string[],
  input = '',
) {
  const { merchant_key, password, callback_secret } = shop.merchant as MerchantWithSecret;
  const program = run(
    {
      LC_ALL: 'C.UTF-8',
      TURNPIKE_URL: shop.url,
      TURNPIKE_MERCHANT_KEY: merchant_key,
      TURNPIKE_PASSWORD: password,
      TURNPIKE_CALLBACK_SECRET: callback_secret,
    },
    { command, args: [...args(sample), ...values], input },
  );
  const { code } = await program.ended;
  return { code, printed: program.output(), complaints: program.complaints() };
}

const works = (printed: RegExp) => ({
  code: 0,
  printed: expect.stringMatching(printed),
  complaints: expect.anything(),
});

/** The headers and the body of an authentic callback, as the gateway signs it. */
function callback(shop: TestGateway) {
  const { password, callback_secret } = shop.merchant as MerchantWithSecret;
  const fields = { action: 'SALE', status: 'SETTLED', order_id: 'order-7', trans_id: 'a-payment' };
  const body = new URLSearchParams({ ...fields, hash: sign(password, 'a-payment', 'order-7', 'SETTLED') }).toString();
  const headers = signatureOf('a-callback', Date.now(), body, ['b3RoZXI=', callback_secret]);
  return { values: [headers['webhook-id'], headers['webhook-timestamp'], headers['webhook-signature']], body };
}

/** The tests of the samples in these languages. */
export function testSamples(...names: (keyof typeof LANGUAGES)[]): void {
  const shop = openShop();
  afterAll(clearAway);

  describe.each(names)('the samples in %s', (name) => {
    const language: Language = LANGUAGES[name];
    const isMissing = !isInstalled(language.probe);
    if (isMissing) console.warn(`${language.command} is not installed: the samples in ${name} are not run.`);

    test.skipIf(isMissing)(
      'open a session, query its status, and refund',
      async () => {
        // A letter whose upper case differs between languages.
        const number = `${newOrderId()}-straße`;
        const paid = `${newOrderId()}-straße`;
        const { trans_id } = (await shop.sale({ order_id: paid })).body;
        const [session, status, refund] = await Promise.all([
          output(shop, language, 'session', [number]),
          output(shop, language, 'status', [paid]),
          output(shop, language, 'refund', [trans_id, '4.00']),
        ]);
        expect(session).toEqual(works(/http:\/\/127\.0\.0\.1:\d+\/pay\//));
        expect(status).toEqual(works(/\bsettled\b/));
        expect(refund).toEqual(works(/\baccepted\b/));
        expect((await shop.inspect(trans_id)).refunded).toBe('4.00');
      },
      COMPILE_MS,
    );

    test.skipIf(isMissing)(
      'accept an authentic callback, and no other body',
      async () => {
        const { values, body } = callback(shop);
        const [right, wrong] = await Promise.all([
          output(shop, language, 'callback', values, body),
          output(shop, language, 'callback', values, `${body}&amount=1`),
        ]);
        expect(right).toEqual(works(/^valid\n$/));
        expect(wrong).toMatchObject({ code: 1, printed: 'invalid\n' });
      },
      COMPILE_MS,
    );
  });
}
