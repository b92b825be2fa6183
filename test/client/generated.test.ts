/** The generated files of the clients agree with the tables, and the client has no dependencies. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clientFiles } from '../../client/write.ts';

const CLIENT = join(import.meta.dirname, '../../client');

test.each(Object.entries(await clientFiles()))('client/%s is up to date', (name, text) => {
  expect(readFileSync(join(CLIENT, name), 'utf8'), 'Run `npm run client`.').toBe(text);
});

test('the client has no runtime dependencies', () => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'));
  expect([dependencies, peerDependencies]).toEqual([undefined, undefined]);
});
