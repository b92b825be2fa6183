/** A mail server for tests that speaks real SMTP on loopback and keeps what it accepted. */
import { SMTPServer } from 'smtp-server';
import { freePort } from './free-port.ts';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** The message as it was transferred. */
  raw: string;
}

/** What the server does with the next e-mails; `dropped` accepts an e-mail and loses the answer. */
export type MailBehaviour = 'accepts' | 'busy' | 'rejects recipient' | 'rejects message' | 'dropped';

export interface TestMailServer {
  url: string;
  mails: ReceivedMail[];
  /** How many sessions there were. */
  sessions: number;
  behaviour: MailBehaviour;
  /** Stops listening, and listens again on the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const refusal = (code: number, text: string): Error => Object.assign(new Error(text), { responseCode: code });

/** With a password, the server takes e-mails of its one user only. */
export async function startMailServer(password?: string): Promise<TestMailServer> {
  let server: SMTPServer | undefined;
  const port = await freePort();
  const self: TestMailServer = {
    url: `smtp://127.0.0.1:${port}`,
    mails: [],
    sessions: 0,
    behaviour: 'accepts',
    async start() {
      server = new SMTPServer({
        authOptional: password === undefined,
        allowInsecureAuth: true,
        onAuth({ password: sent }, _session, done) {
          if (sent === password) done(null, { user: 'user' });
          else done(refusal(535, 'Authentication failed'));
        },
        closeTimeout: 50,
        disabledCommands: password === undefined ? ['STARTTLS', 'AUTH'] : ['STARTTLS'],
        logger: false,
        onConnect(_session, done) {
          self.sessions++;
          done();
        },
        onRcptTo(_address, _session, done) {
          if (self.behaviour === 'rejects recipient') return done(refusal(550, 'No such user here'));
          done(self.behaviour === 'busy' ? refusal(451, 'Try again later') : undefined);
        },
        onData(stream, session, done) {
          const parts: Buffer[] = [];
          stream.on('data', (part: Buffer) => parts.push(part));
          stream.on('end', () => {
            if (self.behaviour === 'rejects message') return done(refusal(554, 'Looks like spam'));
            const { mailFrom, rcptTo } = session.envelope;
            self.mails.push({
              from: mailFrom ? mailFrom.address : '',
              to: rcptTo.map(({ address }) => address),
              raw: Buffer.concat(parts).toString(),
            });
            if (self.behaviour === 'dropped') return void server?.close();
            done();
          });
        },
      });
      server.on('error', () => undefined);
      await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
    },
    async stop() {
      await new Promise<void>((resolve) => (server ? server.close(resolve) : resolve()));
    },
  };
  await self.start();
  return self;
}

/** The headers of a message, unfolded and with encoded words decoded, by lower-case name. */
export function headersOf({ raw }: ReceivedMail): Map<string, string> {
  const [head = ''] = raw.split('\r\n\r\n', 1);
  const unfolded = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  return new Map(
    unfolded.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      decodeWords(line.slice(line.indexOf(':') + 1).trim()),
    ]),
  );
}

const decodeWords = (text: string): string =>
  text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, coded: string) =>
      kind.toLowerCase() === 'b' ? Buffer.from(coded, 'base64').toString() : unquote(coded.replaceAll('_', ' ')),
    );

const unquote = (text: string): string =>
  Buffer.from(
    text.replace(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();

/** The decoded parts of a message, by content type. */
export function partsOf({ raw }: ReceivedMail): Map<string, string> {
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1] ?? '';
  const parts = raw.split(`--${boundary}`).slice(1, -1);
  return new Map(
    parts.map((part) => {
      const [head = '', ...body] = part.replace(/^\r\n/, '').split('\r\n\r\n');
      const type = /content-type: ([\w/]+)/i.exec(head)?.[1] ?? '';
      const text = body.join('\r\n\r\n').replace(/\r\n$/, '');
      const isBase64 = /base64/i.test(head);
      const isQuoted = /quoted-printable/i.test(head);
      const decoded = isBase64
        ? Buffer.from(text, 'base64').toString()
        : isQuoted
          ? unquote(text.replace(/=\r\n/g, ''))
          : text;
      return [type, decoded];
    }),
  );
}
