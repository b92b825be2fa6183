/** The mailer over real SMTP: what counts as sent, rejected or failed, and that TLS is required from other machines. */
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectionTo, createMailer } from '../../src/connectors/mailer.ts';
import { headersOf, type MailBehaviour, startMailServer, type TestMailServer } from '../support/mail.ts';

let server: TestMailServer;
beforeAll(async () => {
  server = await startMailServer();
});
afterAll(() => server.stop());

const MAIL = {
  id: 'receipt-1',
  date: new Date('2026-11-16T08:00:00Z'),
  fromName: 'Tea',
  to: 'ada@example.com',
  subject: 'Receipt',
  html: '<p>Thank you</p>',
  text: 'Thank you',
};
const send = (mail: Partial<typeof MAIL> & { replyTo?: string } = {}, url = server.url) =>
  createMailer({ url, from: 'receipts@pay.example' }).send({ ...MAIL, ...mail });

test.each<[MailBehaviour, string, RegExp]>([
  ['accepts', 'sent', /^250 /],
  ['busy', 'failed', /451/],
  ['rejects recipient', 'rejected', /550 No such user here/],
  ['rejects message', 'rejected', /554 Looks like spam/],
])('a server that %s: %s', async (behaviour, kind, reason) => {
  server.behaviour = behaviour;
  expect(await send()).toEqual({ kind, reason: expect.stringMatching(reason) });
  server.behaviour = 'accepts';
});

test('line breaks in a name or a subject add no header', async () => {
  server.mails.length = 0;
  await send({
    fromName: 'Tea\r\nBcc: eve@evil.example',
    subject: 'A\u2028B\r\n\r\nC'.repeat(50),
    replyTo: 'help@tea.example',
  });
  const [mail] = server.mails;
  expect(mail?.to).toEqual(['ada@example.com']);
  const headers = headersOf(mail as never);
  expect(headers.has('bcc')).toBe(false);
  expect(headers.get('from')).toBe('"Tea Bcc: eve@evil.example" <receipts@pay.example>');
  expect(headers.get('subject')?.length).toBeLessThanOrEqual(200);
  expect(headers.get('date')).toBe('Mon, 16 Nov 2026 08:00:00 +0000');
});

test('signs in with the account of the address; a wrong password fails, and is in no error', async () => {
  const guarded = await startMailServer('p@ss:word');
  const withPassword = (password: string): string => guarded.url.replace('smtp://', `smtp://user:${password}@`);
  expect(await send({}, withPassword('p%40ss%3Aword'))).toMatchObject({ kind: 'sent' });
  const { kind, reason } = await send({}, withPassword('hunter2'));
  expect([kind, reason]).toEqual(['failed', expect.stringContaining('535')]);
  expect(reason).not.toContain('hunter2');
  await guarded.stop();
});

test.each<[string, object]>([
  ['smtp://mail.example', { host: 'mail.example', port: 587, secure: false, requireTLS: true }],
  ['smtp://mail.example:2525?tls=off', { host: 'mail.example', port: 2525, secure: false, requireTLS: false }],
  ['smtp://localhost:25', { host: 'localhost', port: 25, secure: false, requireTLS: false }],
  ['smtp://[::1]', { host: '::1', port: 587, secure: false, requireTLS: false }],
  ['smtps://mail.example?tls=off', { host: 'mail.example', port: 465, secure: true, requireTLS: false }],
])('%s is reached with %j', (url, options) => {
  expect(connectionTo(url)).toEqual(options);
});

test('a server that is not there, or answers something else, has failed', async () => {
  const other = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  expect((await send({}, `smtp://127.0.0.1:${port}`)).kind).toBe('failed');
  await new Promise((resolve) => other.close(resolve));
  expect(await send({}, `smtp://127.0.0.1:${port}`)).toMatchObject({ kind: 'failed' });
});
