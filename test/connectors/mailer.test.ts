/** The mailer over real SMTP: what counts as sent, rejected or failed, and that TLS is required from other machines. */
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
const send = async (mail: Partial<typeof MAIL> & { replyTo?: string } = {}, url = server.url) => {
  const mailer = createMailer({ url, from: 'receipts@pay.example' });
  try {
    return await mailer.send({ ...MAIL, ...mail });
  } finally {
    mailer.close();
  }
};

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

test('e-mails share connections; a new one is opened after the server has closed them', async () => {
  const other = await startMailServer();
  const mailer = createMailer({ url: other.url, from: 'receipts@pay.example' });
  const sendAgain = async (): Promise<string> => (await mailer.send(MAIL)).kind;
  for (let n = 0; n < 20; n++) expect(await sendAgain()).toBe('sent');
  expect(other.sessions).toBeLessThan(other.mails.length);
  other.behaviour = 'rejects recipient';
  expect(await sendAgain()).toBe('rejected');
  other.behaviour = 'accepts';
  expect(await sendAgain()).toBe('sent');
  await other.stop();
  await other.start();
  expect(await sendAgain()).toBe('sent');
  expect(other.mails).toHaveLength(22);
  mailer.close();
  await other.stop();
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

const HEADERS = [
  'auto-submitted',
  'content-type',
  'date',
  'from',
  'message-id',
  'mime-version',
  'reply-to',
  'subject',
  'to',
];

/** The headers as a server reads them, line by line; a line that is none fails. */
function rawHeaders(raw: string): [name: string, value: string][] {
  const headers: [string, string][] = [];
  for (const line of raw.slice(0, raw.indexOf('\r\n\r\n')).split(/\r\n|\r|\n/)) {
    const [, name = '', value = ''] = /^([!-9;-~]+):(.*)$/s.exec(line) ?? [];
    const last = headers.at(-1);
    if (/^[ \t]/.test(line) && last) last[1] += line;
    else if (name !== '') headers.push([name.toLowerCase(), value.trim()]);
    else throw new Error(`not a header: ${JSON.stringify(line)}`);
  }
  return headers;
}

const EVIL = 'eve@evil.example';
const HOSTILE = [
  `\r\nBcc: ${EVIL}`,
  `\nBcc: ${EVIL}`,
  `\rBcc: ${EVIL}`,
  `\r\n\r\nA body`,
  `\r\n.\r\nRCPT TO:<${EVIL}>\r\n`,
  `\u2028Bcc: ${EVIL}\u2029\u0085`,
  `\0\v\f\x7f`,
  `" <${EVIL}>, "`,
  `<${EVIL}>`,
  `, ${EVIL}, `,
  `; ${EVIL};`,
  `(${EVIL})`,
  `Group: ${EVIL};`,
  `\\" <${EVIL}>`,
  `=?utf-8?B?${Buffer.from(`\r\nBcc: ${EVIL}`).toString('base64')}?=`,
  `=?utf-8?Q?=0D=0ABcc=3A_${EVIL}?=`,
  `=?utf-8?Q?=22_=3C${EVIL}=3E?=`,
  `\u202e${EVIL}\u2066`,
  `${'x'.repeat(1000)}\r\nBcc: ${EVIL}`,
];

describe('one recipient, one sender and our headers only', () => {
  test.each(HOSTILE.flatMap((text) => ([`${text}Tea`, `Tea${text}`] as const).map((value) => [value])))(
    '%j as name and subject',
    async (value) => {
      server.mails.length = 0;
      expect(await send({ fromName: value, subject: value, replyTo: 'help@tea.example' })).toMatchObject({
        kind: 'sent',
      });
      expect(server.mails).toHaveLength(1);
      const [mail] = server.mails as [(typeof server.mails)[number]];
      expect([mail.from, mail.to]).toEqual(['receipts@pay.example', ['ada@example.com']]);
      const headers = rawHeaders(mail.raw);
      expect(headers.map(([name]) => name).toSorted()).toEqual(HEADERS);
      const values = new Map(headers);
      expect([values.get('to'), values.get('reply-to')]).toEqual(['ada@example.com', 'help@tea.example']);
      // A quoted name, an encoded one, or none; and then the one address.
      expect(values.get('from')).toMatch(
        /^(?:(?:"(?:[^"\\]|\\.)*"|[\w !#-'*+./=?^`{|}~-]*|(?:=\?UTF-8\?[BQ]\?[!->@-~]*\?=\s*)+) )?<?receipts@pay\.example>?$/,
      );
      expect(values.get('subject')).toMatch(/^[ -~]*$/);
      expect(mail.raw.split('\r\n').every((line) => line.length <= 998)).toBe(true);
    },
  );

  test.each(
    HOSTILE.flatMap((text) => [[`ada@example.com${text}`], [`${text}ada@example.com`], [`ada${text}@example.com`]]),
  )('%j as address is refused', async (value) => {
    server.mails.length = 0;
    for (const mail of [{ to: value }, { replyTo: value }]) {
      expect(await send(mail)).toEqual({ kind: 'rejected', reason: 'The address is not a single e-mail address.' });
    }
    expect(server.mails).toEqual([]);
  });
});
