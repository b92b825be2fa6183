/** Every environment variable. */
import { VARIABLES } from '../../src/server/config.ts';
import { code, page, table } from './markdown.ts';

/** What a variable accepts, which its reader says when it is given something that nothing accepts. */
function expectation(read: (text: string) => unknown): string {
  const answer = read('?');
  return typeof answer === 'object' && answer !== null && 'what' in answer ? String(answer.what) : 'text';
}

export function configuration(): string {
  return page(
    'Configuration',
    'src/server/config.ts',
    `
The gateway is configured by environment variables alone. A variable that is not set, or is empty, has its default.
Everything that is wrong is said at once, and the gateway does not start.

Production (${code('TURNPIKE_ENV=production')}) needs a ${code('TURNPIKE_MASTER_KEY')} and an https
${code('PUBLIC_URL')}, and refuses to start without them. A provider needs its key and its secret for news beside its
address, and in production that address is https and belongs to no simulator.`,
    table(
      ['Variable', 'Default', 'Expects', 'Means'],
      Object.values(VARIABLES).map(({ name, default: fallback, read, about }) => [
        code(name),
        fallback === '' ? '(not set)' : code(fallback),
        expectation(read),
        about,
      ]),
    ),
  );
}
