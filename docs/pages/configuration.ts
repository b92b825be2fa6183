/** Generates docs/configuration.md: every environment variable. */
import { VARIABLES } from '../../src/server/config.ts';
import { code, page, table } from './markdown.ts';

/** What a variable accepts, taken from the error that its reader returns for a value that no variable accepts. */
function expectation(read: (text: string) => unknown): string {
  const answer = read('?');
  return typeof answer === 'object' && answer !== null && 'what' in answer ? String(answer.what) : 'text';
}

export function configuration(): string {
  return page(
    'Configuration',
    'src/server/config.ts',
    `
This page lists the environment variables of the gateway. All configuration is done with environment variables. A
variable that is not set or is empty has its default value. If the configuration is invalid, the gateway prints all
errors and does not start.

Production (${code('TURNPIKE_ENV=production')}) requires a ${code('TURNPIKE_MASTER_KEY')} and an https
${code('PUBLIC_URL')}. A provider requires its address, its key and its notification secret; in production the address
must be https, and the provider must not be a simulator.`,
    table(
      ['Variable', 'Default', 'Expects', 'Meaning'],
      Object.values(VARIABLES).map(({ name, default: fallback, read, about }) => [
        code(name),
        fallback === '' ? '(not set)' : code(fallback),
        expectation(read),
        about,
      ]),
    ),
  );
}
