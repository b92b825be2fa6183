/** Runs the conformance kit against the test mode of a provider, with an operator's own test key: `npm run live -- stripe`. */
import { spawnSync } from 'node:child_process';

/** The environment variable with the test key of each provider, and what a test key looks like. */
const PROVIDERS: Readonly<Record<string, { variable: string; testKey: RegExp }>> = {
  stripe: { variable: 'STRIPE_TEST_KEY', testKey: /^[sr]k_test_/ },
  // The keys of Adyen's test environment look like live ones; the test calls the hosts of the test environment only.
  adyen: { variable: 'ADYEN_TEST_KEY', testKey: /^AQ/ },
  mollie: { variable: 'MOLLIE_TEST_KEY', testKey: /^test_/ },
};

const name = process.argv[2] ?? '';
const provider = Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined;

function problem(): string | undefined {
  if (!provider) return `usage: npm run live -- <provider>, which is one of: ${Object.keys(PROVIDERS).join(', ')}`;
  const key = process.env[provider.variable];
  if (!key) return `Set ${provider.variable} to a test key of your account at ${name}.`;
  return provider.testKey.test(key) ? undefined : `${provider.variable} is not a test key. Live keys move real money.`;
}

const found = problem();
if (found === undefined) {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'live/vitest.config.ts', `live/${name}.test.ts`];
  process.exitCode = spawnSync(process.execPath, vitest, { stdio: 'inherit' }).status ?? 1;
} else {
  console.error(found);
  process.exitCode = 1;
}
