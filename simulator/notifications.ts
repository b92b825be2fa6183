/** Notifications to the gateway: stored with the change they report, signed, sent in order, and retried until accepted. */
import { Agent, request } from 'undici';
import { newId } from '../src/lib/crypto/id.ts';
import { signatureOf } from '../src/lib/crypto/signature.ts';
import { NOTIFICATION_MODES, plusOne } from './faults.ts';
import type { Ledger, Notification } from './ledger.ts';
import type { Timers } from './timers.ts';

export interface NotificationSenderOptions {
  secret: string;
  /** The delay after each failed attempt; the last one repeats. */
  retryMs: readonly number[];
  /** Adds data that must not be stored, right before a message is sent. */
  complete(body: string): string;
}

/** The payment that a notification is about. */
export interface Subject {
  reference: string;
  mid: string | null;
  brand: string | null;
  amount: string;
  currency: string;
  notifyUrl: string | null;
}

/** A signed message; the result of a challenge is sent like a notification. */
export interface Message {
  /** Messages with the same reference are sent in order. */
  reference: string;
  url: string;
  body: Record<string, unknown>;
  copies: number;
  dueAt: number;
}

export interface NotificationSender {
  /** Stores a notification; call it in the transaction of the change. */
  write(subject: Subject, fields: Record<string, unknown>, dueAt?: number): void;
  /** Stores a message that is not about a payment. */
  enqueue(message: Message): void;
  /** Sends the due notifications of a payment; resolves when all are accepted or one is not. */
  send(reference: string): Promise<void>;
  close(): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 10_000;

export function createNotificationSender(
  ledger: Ledger,
  timers: Timers,
  { secret, retryMs, complete }: NotificationSenderOptions,
  onError: (error: unknown) => void,
): NotificationSender {
  const agent = new Agent({ connections: 128 });
  const inProgress = new Map<string, Promise<void>>();
  let isClosed = false;

  async function isAccepted({ event, url, body: stored }: Notification): Promise<boolean> {
    try {
      const body = complete(stored);
      const { statusCode, body: responseBody } = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...signatureOf(event, Date.now(), body, [secret]) },
        body,
        dispatcher: agent,
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      await responseBody.dump();
      return statusCode >= 200 && statusCode < 300;
    } catch {
      return false;
    }
  }

  async function deliver(notification: Notification): Promise<void> {
    let accepted = true;
    for (let copy = 0; copy < notification.copies; copy++) accepted = (await isAccepted(notification)) && accepted;
    if (isClosed) return;
    if (accepted) ledger.notificationDelivered(notification.seq);
    else
      ledger.notificationFailed(
        notification.seq,
        Date.now() + (retryMs[Math.min(notification.tries, retryMs.length - 1)] as number),
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
      inProgress.delete(reference);
    }
  }

  function send(reference: string): Promise<void> {
    const sending = inProgress.get(reference) ?? Promise.resolve().then(() => deliverInOrder(reference));
    inProgress.set(reference, sending);
    return sending;
  }

  for (const reference of ledger.referencesWithNotifications()) send(reference);

  const enqueue = ({ reference, url, body, copies, dueAt }: Message): void =>
    ledger.addNotification({
      event: `evt_${newId()}`,
      reference,
      url,
      body: JSON.stringify(body),
      copies,
      dueAt,
    });

  return {
    write(subject, fields, dueAt = Date.now()) {
      const { reference, currency, notifyUrl } = subject;
      if (!notifyUrl) return;
      const fault = ledger.takeFault(NOTIFICATION_MODES, subject)?.mode;
      const amount = fault === 'wrong_amount' ? plusOne(subject.amount) : subject.amount;
      const body = { reference, ...fields, amount, currency };
      enqueue({ reference, url: notifyUrl, body, copies: fault === 'duplicate_news' ? 2 : 1, dueAt });
    },
    enqueue,
    send,
    async close() {
      isClosed = true;
      await agent.destroy();
      await Promise.all(inProgress.values());
    },
  };
}
