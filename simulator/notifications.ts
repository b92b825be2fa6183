/** News to the gateway: written down with the change that they tell, signed, sent in order, and again until taken. */
import { Agent, request } from 'undici';
import { newId } from '../src/lib/id.ts';
import { signatureOf } from '../src/lib/signature.ts';
import { NOTIFICATION_MODES, plusOne } from './faults.ts';
import type { Ledger, Notification } from './ledger.ts';
import type { Timers } from './timers.ts';

export interface NotificationSenderOptions {
  secret: string;
  /** How long to wait after each failed try; the last pause repeats. */
  pausesMs: readonly number[];
  /** Adds what may not be written down, right before a message is sent. */
  complete(body: string): string;
}

/** Whom the news are about. */
export interface Subject {
  reference: string;
  mid: string | null;
  brand: string | null;
  amount: string;
  currency: string;
  notifyUrl: string | null;
}

/** Any message that is signed and sent like news. */
export interface Message {
  /** Messages about the same thing arrive in order. */
  about: string;
  url: string;
  body: Record<string, unknown>;
  copies: number;
  dueAt: number;
}

export interface NotificationSender {
  /** Writes news down, inside the transaction of what they tell. */
  write(subject: Subject, fields: Record<string, unknown>, dueAt?: number): void;
  /** Writes a message down that is not about a payment. */
  post(message: Message): void;
  /** Sends what is due of a payment; done when all of it was taken or the first of it was not. */
  send(reference: string): Promise<void>;
  close(): Promise<void>;
}

const TIME_LIMIT_MS = 10_000;

export function createNotificationSender(
  ledger: Ledger,
  timers: Timers,
  { secret, pausesMs, complete }: NotificationSenderOptions,
  onError: (error: unknown) => void,
): NotificationSender {
  const agent = new Agent({ connections: 128 });
  const underWay = new Map<string, Promise<void>>();
  let isClosed = false;

  async function isTaken({ event, url, body: written }: Notification): Promise<boolean> {
    try {
      const body = complete(written);
      const { statusCode, body: answer } = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...signatureOf(event, Date.now(), body, [secret]) },
        body,
        dispatcher: agent,
        signal: AbortSignal.timeout(TIME_LIMIT_MS),
      });
      await answer.dump();
      return statusCode >= 200 && statusCode < 300;
    } catch {
      return false;
    }
  }

  async function deliver(notification: Notification): Promise<void> {
    let taken = true;
    for (let copy = 0; copy < notification.copies; copy++) taken = (await isTaken(notification)) && taken;
    if (isClosed) return;
    if (taken) ledger.notificationDelivered(notification.seq);
    else
      ledger.notificationFailed(
        notification.seq,
        Date.now() + (pausesMs[Math.min(notification.tries, pausesMs.length - 1)] as number),
      );
  }

  async function deliverInOrder(reference: string): Promise<void> {
    try {
      while (!isClosed) {
        const next = ledger.nextNotification(reference);
        if (!next) return;
        if (next.dueAt > Date.now()) return timers.at(next.dueAt, () => send(reference));
        await deliver(next);
      }
    } catch (error) {
      onError(error);
    } finally {
      underWay.delete(reference);
    }
  }

  function send(reference: string): Promise<void> {
    const sending = underWay.get(reference) ?? Promise.resolve().then(() => deliverInOrder(reference));
    underWay.set(reference, sending);
    return sending;
  }

  for (const reference of ledger.referencesWithNotifications()) send(reference);

  const post = ({ about, url, body, copies, dueAt }: Message): void =>
    ledger.addNotification({
      event: `evt_${newId()}`,
      reference: about,
      url,
      body: JSON.stringify(body),
      copies,
      dueAt,
    });

  return {
    write(subject, fields, dueAt = Date.now()) {
      const { reference, currency, notifyUrl } = subject;
      if (!notifyUrl) return;
      const fault = ledger.takeFault(NOTIFICATION_MODES, subject);
      const amount = fault === 'wrong_amount' ? plusOne(subject.amount) : subject.amount;
      const body = { reference, ...fields, amount, currency };
      post({ about: reference, url: notifyUrl, body, copies: fault === 'duplicate_news' ? 2 : 1, dueAt });
    },
    post,
    send,
    async close() {
      isClosed = true;
      await agent.destroy();
      await Promise.all(underWay.values());
    },
  };
}
