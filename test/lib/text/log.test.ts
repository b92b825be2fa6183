/** The line of a request is the one that the logger writes, and a foreign id in it is masked. */
import { expect, test } from 'vitest';
import { createLog } from '../../../src/lib/text/log.ts';

const lines: string[] = [];
const log = createLog('info', { write: (line) => void lines.push(line) });

/** The last line, without its time. */
const lastLine = (): string => (lines.at(-1) as string).replace(/"time":"[^"]*",/, '');

const ids = { mid: '01a1dd06-691f-7000-87fc-b0749d0543ed', paymentId: '01a1dd06-691f-7001-8f00-411111111111' };
const request = { id: 'abcdefghij-1', action: 'SALE', outcome: 'error "1"', status: 200, ms: 12.5 };

test.each([
  ['both ids', ids],
  ['no payment', { mid: ids.mid, paymentId: undefined }],
  ['no ids', { mid: undefined, paymentId: undefined }],
])('%s', (_, { mid, paymentId }) => {
  log.request('info', { ...request, mid, paymentId });
  const composed = lastLine();
  const { id: request_id, action, outcome, status, ms } = request;
  log.info({ request_id, action, outcome, status, mid, payment_id: paymentId, ms }, 'request');
  expect(composed).toBe(lastLine());
});

test.each(['4111111111111111', '","pan":"4111111111111111'])('the id %s, which is not one of our own', (mid) => {
  log.request('info', { ...request, mid, paymentId: undefined });
  expect(JSON.parse(lastLine())).toMatchObject({ action: 'SALE', status: 200 });
  expect(lastLine()).not.toContain('1111111');
});

test('a level that is not enabled writes nothing', () => {
  const before = lines.length;
  log.request('debug', { ...request, mid: undefined, paymentId: undefined });
  expect(lines).toHaveLength(before);
});
