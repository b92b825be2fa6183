/** Reads PayPal's webhooks: verifies the signature with PayPal's certificate, and interprets the events about payments. */
import { type KeyObject, verify, X509Certificate } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { isObject, isText } from '../../lib/text/json.ts';
import { Deadline } from '../../lib/time/deadline.ts';
import type { ChargebackStage, ChargebackState } from '../../rules/chargebacks.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { ConnectionAccess, Connector, NotificationMeaning, ProviderNotification } from '../connector.ts';
import { createHttpClient } from '../http.ts';
import { fromPaypal } from './amounts.ts';
import { eventOf } from './events.ts';
import { operationOutcomeOf } from './outcomes.ts';
import { parseCustomId } from './requests.ts';
import type { Money, Refund } from './types.ts';

type Json = Record<string, unknown>;

/** The hosts of PayPal's certificates; the connection to them proves that a certificate is PayPal's. */
const CERTIFICATE_HOSTS = {
  sandbox: /^https:\/\/api(-m)?\.sandbox\.paypal\.com$/,
  production: /^https:\/\/api(-m)?\.paypal\.com$/,
} as const satisfies Record<ConnectionAccess['environment'], RegExp>;
const CERTIFICATE_PATH = /^\/v1\/notifications\/certs\/[\w-]{1,128}$/;

/** PayPal changes its certificate every few years. */
const MOST_CERTIFICATES = 8;
/** Anyone can name a certificate that does not exist. */
const DOWNLOADS_PER_SECOND = 1;

interface Certificates {
  /** The public key of the certificate at this address; undefined if it is none of PayPal's, or not valid now. */
  publicKey(url: string, now: number): Promise<KeyObject | undefined>;
  close(): Promise<void>;
}

function createCertificates({ apiBase, environment }: ConnectionAccess): Certificates {
  const known = new Map<string, X509Certificate>();
  const downloads = new Map<string, Promise<X509Certificate | undefined>>();
  const clients = new Map<string, ReturnType<typeof createHttpClient>>();
  const isOurs = (origin: string): boolean =>
    apiBase === undefined ? CERTIFICATE_HOSTS[environment].test(origin) : origin === new URL(apiBase).origin;

  const download = async (origin: string, path: string): Promise<X509Certificate | undefined> => {
    const client = clients.get(origin) ?? createHttpClient(origin, DOWNLOADS_PER_SECOND);
    clients.set(origin, client);
    const deadline = new Deadline(LIMITS.outcomeTimeoutMs);
    const { status, text } = await client.send({ method: 'GET', path }, deadline).finally(() => deadline.clear());
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`PayPal returned no certificate (${status}).`);
    return new X509Certificate(text);
  };

  /** Webhooks that arrive together wait for one download. */
  const shared = (origin: string, path: string): Promise<X509Certificate | undefined> => {
    const started = downloads.get(path) ?? download(origin, path).finally(() => downloads.delete(path));
    downloads.set(path, started);
    return started;
  };

  return {
    async publicKey(address, now) {
      const url = URL.parse(address);
      if (!url || !isOurs(url.origin) || !CERTIFICATE_PATH.test(url.pathname)) return undefined;
      const { origin, pathname } = url;
      const certificate = known.get(pathname) ?? (await shared(origin, pathname));
      if (!certificate || now < Date.parse(certificate.validFrom) || now > Date.parse(certificate.validTo))
        return undefined;
      if (known.size < MOST_CERTIFICATES) known.set(pathname, certificate);
      return certificate.publicKey;
    },
    close: async () => void (await Promise.all([...clients.values()].map((client) => client.close()))),
  };
}

const ALGORITHM = 'SHA256withRSA';
const HEADER_LENGTH = 1024;

/** The webhook's headers, without the common prefix; undefined if one is missing. */
function signatureIn(headers: Readonly<Json>) {
  const header = (name: string): string => {
    const value = headers[`paypal-${name}`];
    return isText(value, HEADER_LENGTH) ? value : '';
  };
  const [id, time, sig, url] = ['transmission-id', 'transmission-time', 'transmission-sig', 'cert-url'].map(header);
  return id && time && sig && url && header('auth-algo') === ALGORITHM ? { id, time, sig, url } : undefined;
}

export interface WebhookReader {
  read: Connector['readNotifications'];
  close(): Promise<void>;
}

/**
 * PayPal signs the checksum of the body (CRC-32) and not the body: whoever has seen a webhook could make another body with its
 * checksum. So no payment is believed to be paid because of a webhook: PayPal is asked.
 */
export function createWebhookReader(access: ConnectionAccess): WebhookReader {
  const certificates = createCertificates(access);
  return {
    async read(headers, body, now) {
      const signature = signatureIn(headers);
      if (!signature) return undefined;
      const { id, time, sig, url } = signature;
      const key = await certificates.publicKey(url, now);
      const signed = [id, time, access.credential('webhook_id'), crc32(body)].join('|');
      if (!key || !verify('RSA-SHA256', Buffer.from(signed), key, Buffer.from(sig, 'base64'))) return undefined;
      return eventsIn(body);
    },
    close: certificates.close,
  };
}

function eventsIn(body: Buffer): ProviderNotification[] | undefined {
  try {
    const event: unknown = JSON.parse(body.toString('utf8'));
    return isObject(event) ? notificationsOf(event) : undefined;
  } catch {
    return undefined;
  }
}

/** The first of these ids that is one of ours. */
const subjectOf = (...ids: unknown[]) => ids.map(parseCustomId).find((found) => found !== undefined);

const textOf = (value: unknown): string | undefined => (isText(value, 255) ? value : undefined);
const objectOf = (value: unknown): Json => (isObject(value) ? value : {});
const firstOf = (value: unknown): Json => objectOf(Array.isArray(value) ? value[0] : undefined);

function notificationsOf({ id, event_type: type, resource }: Json): ProviderNotification[] {
  if (!isText(id, 255) || id === '' || !isText(type, 255) || !isObject(resource)) return [];
  const { about } = eventOf(type);
  if (about === 'nothing') return [];
  if (about === 'dispute') return disputeNotifications(id, type, resource);
  // A new event of a dispute.
  const disputed = disputedIn(resource);
  if (disputed) return [{ eventId: id, ...disputed, body: { type } }];
  // An order has its ids in its purchase unit.
  const unit = firstOf(resource.purchase_units);
  const subject = subjectOf(resource.custom_id, resource.invoice_id, unit.custom_id, unit.invoice_id);
  if (!subject) return [];
  const { reference, operation } = subject;
  const stored = { id: resource.id, status: resource.status, amount: resource.amount };
  const operationReference = textOf(resource.id);
  if (about === 'refund')
    return [{ eventId: id, reference, operation, operationReference, body: { type, refund: stored } }];
  if (about === 'capture' && isOfAuthorization(resource))
    return [{ eventId: id, reference, operationReference, body: { type, capture: stored } }];
  return [{ eventId: id, reference, body: { type } }];
}

function isOfAuthorization({ supplementary_data: data, links }: Json): boolean {
  const related = objectOf(objectOf(data).related_ids).authorization_id;
  const isLinked = (link: unknown): boolean =>
    isObject(link) && link.rel === 'up' && String(link.href).includes('/payments/authorizations/');
  return related !== undefined || (Array.isArray(links) && links.some(isLinked));
}

/** The payment that is disputed, by our reference or by PayPal's. */
function disputedIn({ disputed_transactions: transactions }: Json) {
  const { custom, invoice_number: invoice, seller_transaction_id: capture } = firstOf(transactions);
  const reference = subjectOf(custom, invoice)?.reference;
  const providerReference = textOf(capture);
  return reference === undefined && providerReference === undefined ? undefined : { reference, providerReference };
}

/** What a dispute says of its money, and then of its state: each is a notification. */
function disputeNotifications(id: string, type: string, resource: Json): ProviderNotification[] {
  const disputed = disputedIn(resource);
  if (!disputed) return [];
  const dispute = {
    id: resource.dispute_id,
    status: resource.status,
    stage: resource.dispute_life_cycle_stage,
    reason: resource.reason,
    amount: resource.dispute_amount,
    due: resource.seller_response_due_date,
    outcome: objectOf(resource.dispute_outcome).outcome_code,
  };
  return ['money', 'state'].map((part) => ({
    eventId: `${id}:${part}`,
    ...disputed,
    body: { type, part, dispute },
  }));
}

/** PayPal's words for who got the money. */
const WON: readonly unknown[] = ['RESOLVED_SELLER_FAVOUR', 'CANCELED_BY_BUYER', 'DENIED'];
const LOST: readonly unknown[] = ['RESOLVED_BUYER_FAVOUR', 'ACCEPTED'];
/** Nothing to do for the merchant. */
const ANSWERED: readonly unknown[] = ['UNDER_REVIEW', 'WAITING_FOR_BUYER_RESPONSE'];

/** Appeals against a decision. */
const APPEALS: readonly unknown[] = ['PRE_ARBITRATION', 'ARBITRATION'];

/**
 * In an inquiry the payer and the merchant talk, and no money moves. Beyond it PayPal holds the amount. An appeal is about the
 * same money: one that is lost takes it a second time if it had come back, and an open one is announced until then.
 */
function disputeMeaning(type: string, part: unknown, dispute: Json): NotificationMeaning {
  const due = typeof dispute.due === 'string' ? Date.parse(dispute.due) : Number.NaN;
  const fields = {
    chargedBack: fromPaypal(dispute.amount as Money | undefined),
    respondBy: Number.isNaN(due) ? undefined : due,
    cause: textOf(dispute.reason)?.replaceAll('_', ' ').toLowerCase(),
    chargebackReference: textOf(dispute.id),
  };
  const report = (changes: { stage?: ChargebackStage; state?: ChargebackState }): NotificationMeaning => ({
    kind: 'chargebackReport',
    ...fields,
    ...changes,
  });
  const isInquiry = dispute.stage === 'INQUIRY';
  const isAppeal = APPEALS.includes(dispute.stage);
  const isResolved = type === 'CUSTOMER.DISPUTE.RESOLVED';
  const isLost = isResolved && LOST.includes(dispute.outcome);
  if (part === 'money') {
    if (isInquiry) return report({ stage: 'inquiry' });
    return { kind: isAppeal && isLost ? 'secondChargedBack' : 'chargedBack', ...fields };
  }
  if (isResolved) {
    if (isInquiry) return report({ state: 'closed' });
    if (WON.includes(dispute.outcome)) return { kind: 'chargebackReversed', ...fields };
    if (isLost) return report({ state: 'lost' });
    return { kind: 'unhandled', event: `${type} ${textOf(dispute.outcome) ?? ''}`.trim() };
  }
  if (ANSWERED.includes(dispute.status)) return report({ state: 'answered' });
  return isAppeal ? report({ stage: 'warning' }) : undefined;
}

/** One that is pending is queried; a new status may take back what was done. */
function operationMeaning(type: string, verb: 'capture' | 'refund', operation: unknown): NotificationMeaning {
  if (!isObject(operation)) return { kind: 'ask' };
  const outcome = operationOutcomeOf(operation as unknown as Refund);
  if (outcome.kind === 'unknown')
    return { kind: 'unhandled', event: `${type} ${textOf(operation.status) ?? ''}`.trim() };
  return outcome.kind === 'accepted' ? { kind: 'ask' } : { kind: 'operation', verb, outcome };
}

export function interpretNotification(body: Json): NotificationMeaning {
  const type = String(body.type);
  const { about } = eventOf(type);
  switch (about) {
    case 'approval':
      return { kind: 'returned' };
    case 'refund':
      return operationMeaning(type, 'refund', body.refund);
    case 'capture':
      return operationMeaning(type, 'capture', body.capture);
    case 'dispute':
      return disputeMeaning(type, body.part, objectOf(body.dispute));
    case 'attention':
      return { kind: 'unhandled', event: type };
    case 'void':
      return { kind: 'expired' };
    case 'payment':
      return { kind: 'ask' };
    case 'nothing':
      return undefined;
  }
}
