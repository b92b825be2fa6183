/** Runs the conformance kit against the test mode of a provider, with an operator's own test key: `npm run live -- stripe`. */
import { spawnSync } from 'node:child_process';

interface Provider {
  /** The environment variable with the test key, and what a test key looks like. */
  variable: string;
  testKey: RegExp;
  /** Further variables that the run needs, and those with which it also receives webhooks. */
  needs?: Readonly<Record<string, string>>;
  webhooks: Readonly<Record<string, string>>;
}

const PORT = { LIVE_WEBHOOK_PORT: 'the port of this machine to which your forwarder passes webhooks on' };

const PROVIDERS: Readonly<Record<string, Provider>> = {
  stripe: {
    variable: 'STRIPE_TEST_KEY',
    testKey: /^[sr]k_test_/,
    webhooks: {
      ...PORT,
      STRIPE_WEBHOOK_SECRET: 'what `stripe listen --forward-to 127.0.0.1:<port>` prints (whsec_…)',
    },
  },
  // The keys of Adyen's test environment look like live ones; the test calls the hosts of the test environment only.
  adyen: {
    variable: 'ADYEN_TEST_KEY',
    testKey: /^AQ/,
    needs: { ADYEN_TEST_MERCHANT_ACCOUNT: 'the name of your merchant account' },
    webhooks: { ...PORT, ADYEN_HMAC_KEY: 'the HMAC key of a standard webhook that leads to your forwarder' },
  },
  mollie: {
    variable: 'MOLLIE_TEST_KEY',
    testKey: /^test_/,
    needs: { LIVE_PAYER: 'any text: you open the pages that the run prints, and choose the outcome there' },
    webhooks: { ...PORT, LIVE_WEBHOOK_URL: 'the public address of your forwarder' },
  },
};

const list = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, text]) => `  ${name}: ${text}\n`)
    .join('');

const explain = ({ variable, needs = {}, webhooks }: Provider, name: string): string =>
  `This runs the conformance kit against the test mode of ${name} and writes live-report-${name}.md. It moves no real money.
Required:
${list({ [variable]: `a test key of your account at ${name}`, ...needs })}To receive webhooks, too, run a forwarder (such as a tunnel to this machine) and set:
${list(webhooks)}Pages: set LIVE_PAYER to any text. The run then prints the address of each page, and waits until you have paid there.`;

const name = process.argv[2] ?? '';
const provider = Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined;

function problem(): string | undefined {
  if (!provider) return `usage: npm run live -- <provider>, which is one of: ${Object.keys(PROVIDERS).join(', ')}`;
  const { variable, testKey, needs = {} } = provider;
  const missing = [variable, ...Object.keys(needs)].filter((each) => !process.env[each]);
  if (missing.length > 0) return `Missing: ${missing.join(', ')}\n\n${explain(provider, name)}`;
  return testKey.test(process.env[variable] ?? '')
    ? undefined
    : `${variable} is not a test key. Live keys move real money.`;
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
