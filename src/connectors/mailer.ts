/** Sends e-mails over SMTP, several over one connection. Each is tried once; its sender decides about further attempts. */
import { createTransport } from 'nodemailer';
import { isLoopbackHost } from '../lib/http/address.ts';
import { cut } from '../lib/text/cut.ts';
import { isMailAddress } from '../rules/contacts.ts';
import { LIMITS } from '../rules/limits.ts';

export interface MailAccess {
  /** `smtp://user:password@host:587`, or `smtps://` for TLS from the first byte. `?tls=off` allows a server without TLS. */
  url: string;
  /** The address of the sender. */
  from: string;
}

export interface Mail {
  /** The same for every attempt, so that a mail server can tell a repetition. */
  id: string;
  date: Date;
  /** The name of the sender, and the address for replies. */
  fromName: string;
  replyTo?: string | undefined;
  to: string;
  subject: string;
  html: string;
  text: string;
}

/** `rejected`: the server will never accept this e-mail. `failed`: it may, at another time. */
export interface MailOutcome {
  kind: 'sent' | 'rejected' | 'failed';
  /** What the server answered, or why there was no answer. */
  reason: string;
}

export interface Mailer {
  send(mail: Mail): Promise<MailOutcome>;
  /** Closes idle connections, and others once their e-mail is sent. */
  close(): void;
}

const REASON_LENGTH = 300;

/**
 * The connections of a process: more than all kinds of e-mails that it sends at a time, so that none waits for another. Each
 * takes so many e-mails, and is closed after a pause.
 */
const CONNECTIONS = { pool: true, maxConnections: 64, maxMessages: 100, idleTimeout: 2000 } as const;

/** The text on one line, without characters that could end a header. */
const oneLine = (text: string, most: number): string => cut(text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim(), most);

/** The server answered for good about the recipient or the message; other refusals are about the configuration. */
const isRejection = ({ code, permanent }: { code?: string; permanent?: boolean }): boolean =>
  permanent === true && (code === 'EENVELOPE' || code === 'EMESSAGE');

/** How the server at an address is reached. */
export function connectionTo(url: string) {
  const { protocol, hostname, port, username, password, searchParams } = new URL(url);
  const isSecure = protocol === 'smtps:';
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (isSecure ? 465 : 587)),
    secure: isSecure,
    // Without it, an attacker between us and the server could switch TLS off.
    requireTLS: !isSecure && !isLoopbackHost(hostname) && searchParams.get('tls') !== 'off',
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
  };
}

export function createMailer({ url, from }: MailAccess): Mailer {
  const timeout = LIMITS.mailTimeoutMs;
  const transport = createTransport({
    ...connectionTo(url),
    ...CONNECTIONS,
    connectionTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    dnsTimeout: timeout,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = from.slice(from.lastIndexOf('@') + 1);
  return {
    async send({ id, date, fromName, replyTo, to, subject, html, text }) {
      // The transport would take a list for several recipients.
      if (![to, ...(replyTo ? [replyTo] : [])].every(isMailAddress)) {
        return { kind: 'rejected', reason: 'The address is not a single e-mail address.' };
      }
      try {
        const { response } = await transport.sendMail({
          messageId: `<${id}@${domain}>`,
          date,
          // Addresses as objects: a name or an address is never parsed as a list of addresses.
          from: { name: oneLine(fromName, 100), address: from },
          to: { name: '', address: to },
          ...(replyTo && { replyTo: { name: '', address: replyTo } }),
          envelope: { from, to: [to] },
          subject: oneLine(subject, 200),
          html,
          text,
          headers: { 'auto-submitted': 'auto-generated' },
        });
        return { kind: 'sent', reason: oneLine(response, REASON_LENGTH) };
      } catch (error) {
        return { kind: isRejection(error as object) ? 'rejected' : 'failed', reason: reasonOf(error) };
      }
    },
    close: () => transport.close(),
  };
}

const reasonOf = (error: unknown): string =>
  oneLine(error instanceof Error ? error.message : String(error), REASON_LENGTH);
