/** Writes what a real provider did with each test of the kit into a file that can be sent to the authors. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(`${name}/package.json`, 'utf8')) as { version: string }).version;

const SDKS: Readonly<Record<string, string>> = {
  stripe: 'stripe',
  adyen: '@adyen/api-library',
  mollie: '@mollie/api-client',
};

/** Values that must not leave this machine: the credentials that were given to this run. */
const secrets = Object.entries(process.env)
  .filter(([name, value]) => /KEY|SECRET|ACCOUNT|CHANNEL|PREFIX|_ID$/.test(name) && (value?.length ?? 0) >= 6)
  .map(([, value]) => value as string);

const withoutSecrets = (text: string): string =>
  secrets.reduce((left, secret) => left.replaceAll(secret, '[removed]'), text);

/** The first line of each error, without colours. */
const firstLine = ({ message }: { message: string }): string =>
  message
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters.
    .replaceAll(/\u001b\[\d+m/g, '')
    .split('\n', 1)
    .join('');

function lineOf(test: TestCase): string {
  const { state, errors = [] } = test.result();
  const text = {
    passed: 'as expected',
    failed: errors.map(firstLine).join('; '),
    skipped: 'not tried',
    pending: 'not tried',
  };
  return `| ${test.fullName} | ${text[state].replaceAll('|', '\\|')} |`;
}

export default class LiveReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const provider = process.env.LIVE_PROVIDER ?? '';
    const tests = modules.flatMap(({ children }) => [...children.allTests()]);
    const sdk = SDKS[provider];
    const text = withoutSecrets(
      [
        `# ${provider}: what the provider did`,
        '',
        `Turnpike ${versionOf('.')}, Node ${process.version}, ${sdk ? `${sdk} ${versionOf(`node_modules/${sdk}`)}, ` : ''}${new Date().toISOString()}`,
        `Webhooks: ${process.env.LIVE_WEBHOOK_PORT ? 'received through a forwarder' : 'not received'}. Payer: ${process.env.LIVE_PAYER ? 'a person' : 'nobody'}.`,
        '',
        '| Test of the kit | What the provider did |',
        '| --- | --- |',
        ...tests.map(lineOf),
        '',
      ].join('\n'),
    );
    const file = process.env.LIVE_REPORT ?? `live-report-${provider}.md`;
    writeFileSync(file, text);
    console.log(`\n${text}\nThis report is in ${file}. It contains no credentials; please send it to the authors.`);
  }
}
