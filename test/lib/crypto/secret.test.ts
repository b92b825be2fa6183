/** A secret prints as `***` everywhere. */
import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { format, inspect } from 'node:util';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Secret } from '../../../src/lib/crypto/secret.ts';

const TEXT = 'tiger-in-the-kitchen';
const secret = new Secret(TEXT);

/** What is written to a stream during a call. */
function written(use: (stream: Writable) => void): string {
  let output = '';
  use(
    new Writable({
      write(chunk, _encoding, done) {
        output += String(chunk);
        done();
      },
    }),
  );
  return output;
}

test.each<[string, () => string]>([
  ['a template string', () => `${secret}`],
  ['a concatenated text', () => `a ${String(secret)}`],
  ['a joined list', () => [secret, secret].join()],
  ['JSON', () => JSON.stringify(secret)],
  ['JSON of an object around it', () => JSON.stringify({ account: { password: secret } })],
  ['inspect', () => inspect(secret)],
  ['inspect with hidden properties', () => inspect({ a: [secret] }, { showHidden: true, depth: null, getters: true })],
  ['format', () => format('%s %o %O %j', secret, secret, secret, secret)],
  ['the message of an error', () => new Error(`bad ${secret}`).message],
  ['an error with the secret as a property', () => inspect(Object.assign(new Error('bad'), { secret }))],
  ['the console', () => written((stream) => new Console(stream).log('it is', secret, { secret }))],
  ['a table on the console', () => `${written((stream) => new Console(stream).table([{ secret }]))}***`],
  ['the log', () => written((stream) => pino(stream).info({ password: secret, deep: { list: [secret] } }, 'made'))],
  ['the log as a message', () => written((stream) => pino(stream).info('made %s %j %o', secret, secret, secret))],
])('%s prints ***', (_, print) => {
  const output = print();
  expect(output).toContain('***');
  expect(output).not.toContain('tiger');
});

test('no property, entry or clone leads to the value', () => {
  expect(Reflect.ownKeys(secret)).toEqual([]);
  expect({ ...secret }).toEqual({});
  expect(JSON.stringify(structuredClone(secret))).not.toContain('tiger');
});

test('only reveal returns the value', () => {
  expect(secret.reveal()).toBe(TEXT);
});
