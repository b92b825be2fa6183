/** Runs the conformance kit against the test mode of a provider, with an operator's own test key: `npm run live -- stripe`. */
import { spawnSync } from 'node:child_process';

interface Provider {
  /** The environment variables that the run needs, and what those look like that show that they are for tests. */
  needs: Readonly<Record<string, string>>;
  testKeys?: Readonly<Record<string, RegExp>>;
  /** Variables that some accounts need, and those with which the run also receives webhooks. */
  options?: Readonly<Record<string, string>>;
  webhooks: Readonly<Record<string, string>>;
}

const PORT = { LIVE_WEBHOOK_PORT: 'the port of this machine to which your forwarder passes webhooks on' };

const PROVIDERS: Readonly<Record<string, Provider>> = {
  stripe: {
    needs: { STRIPE_TEST_KEY: 'a test key of your account at stripe' },
    testKeys: { STRIPE_TEST_KEY: /^[sr]k_test_/ },
    webhooks: {
      ...PORT,
      STRIPE_WEBHOOK_SECRET: 'what `stripe listen --forward-to 127.0.0.1:<port>` prints (whsec_…)',
    },
  },
  // The keys of Adyen's test environment look like live ones; the test calls the hosts of the test environment only.
  adyen: {
    needs: {
      ADYEN_TEST_KEY: 'a test key of your account at adyen',
      ADYEN_TEST_MERCHANT_ACCOUNT: 'the name of your merchant account',
    },
    testKeys: { ADYEN_TEST_KEY: /^AQ/ },
    webhooks: { ...PORT, ADYEN_HMAC_KEY: 'the HMAC key of a standard webhook that leads to your forwarder' },
  },
  mollie: {
    needs: {
      MOLLIE_TEST_KEY: 'a test key of your account at mollie',
      LIVE_PAYER: 'any text: you open the pages that the run prints, and choose the outcome there',
    },
    testKeys: { MOLLIE_TEST_KEY: /^test_/ },
    webhooks: { ...PORT, LIVE_WEBHOOK_URL: 'the public address of your forwarder' },
  },
  // The credentials of PayPal do not show what they are for; the test calls the hosts of its sandbox only.
  paypal: {
    needs: {
      PAYPAL_TEST_CLIENT_ID: 'the client id of a sandbox app',
      PAYPAL_TEST_CLIENT_SECRET: 'the secret of that app',
      PAYPAL_WEBHOOK_ID:
        'the id of a webhook of that app with all events; its address is that of your forwarder, if you run one',
      LIVE_PAYER: 'any text: you open the pages that the run prints, and pay there with a personal sandbox account',
    },
    webhooks: PORT,
  },
  checkout: {
    needs: {
      CHECKOUT_TEST_KEY: 'a secret key of your sandbox account (sk_sbox_…)',
      CHECKOUT_TEST_CHANNEL: 'the id of its processing channel (pc_…)',
    },
    testKeys: { CHECKOUT_TEST_KEY: /^sk_(sbox|test)_/ },
    options: { CHECKOUT_API_PREFIX: 'the prefix of your account in the address of the API, if it has one' },
    webhooks: { ...PORT, CHECKOUT_WEBHOOK_SECRET: 'the signature key of a webhook that leads to your forwarder' },
  },
};

const list = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, text]) => `  ${name}: ${text}\n`)
    .join('');

const explain = ({ needs, options, webhooks }: Provider, name: string): string =>
  `This runs the conformance kit against the test mode of ${name} and writes live-report-${name}.md, or the file LIVE_REPORT. It moves no real money.
Required:
${list(needs)}${options ? `Optional:\n${list(options)}` : ''}To receive webhooks, too, run a forwarder (such as a tunnel to this machine) and set:
${list(webhooks)}Pages: set LIVE_PAYER to any text. The run then prints the address of each page, and waits until you have paid there.`;

const name = process.argv[2] ?? '';
const provider = Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined;

function problem(): string | undefined {
  if (!provider) return `usage: npm run live -- <provider>, which is one of: ${Object.keys(PROVIDERS).join(', ')}`;
  const missing = Object.keys(provider.needs).filter((each) => !process.env[each]);
  if (missing.length > 0) return `Missing: ${missing.join(', ')}\n\n${explain(provider, name)}`;
  const [wrong] = Object.entries(provider.testKeys ?? {}).filter(([each, key]) => !key.test(process.env[each] ?? ''));
  return wrong && `${wrong[0]} is not a test key. Live keys move real money.`;
}

const found = problem();
if (found === undefined) {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'live/vitest.config.ts', `live/${name}.test.ts`];
  const env = { ...process.env, LIVE_PROVIDER: name };
  process.exitCode = spawnSync(process.execPath, vitest, { stdio: 'inherit', env }).status ?? 1;
} else {
  console.error(found);
  process.exitCode = 1;
}
