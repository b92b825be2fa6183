/** The body reader over a real connection: size limits, memory budget and timeout. */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { createBudget } from '../../src/lib/flow/budget.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { createBodyReader, LargeBody, type ReaderOptions } from '../../src/wire/s2s/reader.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** Starts a server that reads bodies and records the outcome of each. */
async function serve(options: Omit<ReaderOptions, 'budget'>, most = LIMITS.largeBodiesBytes) {
  const budget = createBudget(most);
  const outcomes: (Error | Buffer | LargeBody)[] = [];
  const read = createBodyReader({ budget, ...options });
  const server = createServer((request) => {
    read(request, request, (error, body) => outcomes.push(error ?? body ?? Buffer.alloc(0)));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const send = (text: string) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    socket.write(text);
    return socket;
  };
  return { budget, outcomes, send };
}

const request = (length: number, body: string): string =>
  `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n${body}`;
const isLarge = async (): Promise<boolean> => true;

test('reads a small body without using the budget', async () => {
  const { outcomes, send, budget } = await serve({ mayBeLarge: isLarge });
  send(request(5, 'a=b&c'));
  await expect.poll(() => outcomes).toEqual([Buffer.from('a=b&c')]);
  expect(budget.held).toBe(0);
});

test('checks the first 64 KiB of a large body, and holds its share of the budget until it is released', async () => {
  const heads: Buffer[] = [];
  const mayBeLarge = async (_type: string, head: Buffer): Promise<boolean> => heads.push(head) > 0;
  const { outcomes, send, budget } = await serve({ mayBeLarge });
  const body = 'x'.repeat(1_000_000);
  send(request(body.length, body));
  await expect.poll(() => outcomes).toHaveLength(1);
  expect(heads.map(({ length }) => length)).toEqual([LIMITS.bodyBytes]);
  const [large] = outcomes as [LargeBody];
  expect(large).toBeInstanceOf(LargeBody);
  expect(large.bytes.toString()).toBe(body);
  expect(budget.held).toBe(body.length);
  large.release();
  large.release();
  expect(budget.held).toBe(0);
});

test('refuses a slow client and releases its share of the budget', async () => {
  const { outcomes, send, budget } = await serve({ mayBeLarge: isLarge, timeoutMs: 1500 });
  const socket = send(request(1_000_000, 'x'.repeat(100_000)));
  await expect.poll(() => budget.held).toBe(1_000_000);
  // Single bytes do not extend the timeout.
  const drip = setInterval(() => socket.write('x'), 20);
  await expect.poll(() => outcomes).toHaveLength(1);
  clearInterval(drip);
  expect(outcomes[0]).toMatchObject({
    error: 'invalidData',
    problems: [{ field: 'body', sentence: 'The body did not arrive in time.' }],
  });
  expect(budget.held).toBe(0);
});

test('a client that disconnects during the lookup has one outcome and reserves nothing', async () => {
  const lookUp = Promise.withResolvers<boolean>();
  const mayBeLarge = vi.fn(() => lookUp.promise);
  const { outcomes, send, budget } = await serve({ mayBeLarge });
  const socket = send(request(1_000_000, 'x'.repeat(100_000)));
  await expect.poll(() => mayBeLarge).toHaveBeenCalled();
  socket.destroy();
  await expect.poll(() => outcomes).toHaveLength(1);
  lookUp.resolve(true);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(outcomes).toHaveLength(1);
  expect(budget.held).toBe(0);
});

test('a body that exceeds the free budget gets a retry-after', async () => {
  const { outcomes, send } = await serve({ mayBeLarge: isLarge }, 1_500_000);
  send(request(1_000_000, 'x'.repeat(100_000)));
  send(request(1_000_000, 'x'.repeat(100_000)));
  await expect.poll(() => outcomes).toHaveLength(1);
  expect(outcomes[0]).toMatchObject({ error: 'unavailable', retryAfter: 5 });
});
