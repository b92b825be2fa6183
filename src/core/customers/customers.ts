/** What payers do about the cards and subscriptions that an account has saved for them, after a one-time link by e-mail. */
import { FIRST_ID, newSecret } from '../../lib/crypto/id.ts';
import { CUSTOMER_LIMITS } from '../../rules/customers.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { CustomerLink, SavedSubscription } from '../../store/customers/customers.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import { displayName, findAccount } from '../accounts/accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { processPortions } from '../installation/catch-up.ts';
import { auditEntry, type Caller } from '../operators/principal.ts';

const keyOf = ({ fingerprints }: Gateway, mid: string, email: string): string =>
  fingerprints.digest(`${mid} ${email.toLowerCase()}`, 'customer address');

const SECRET = /^[0-9a-f]{64}$/;

const digestOf = ({ fingerprints }: Gateway, secret: string): string => fingerprints.digest(secret, 'customer link');

/** The page on which a payer of an account asks for a link. */
export const customerPath = (mid: string): string => `/customer/${mid}`;

/** The page of a payer whose card this payment has saved; undefined without a mail server, or without a saved card. */
export const customerPageOf = (
  { mailer }: Pick<Gateway, 'mailer'>,
  { mid, recurringToken, details: { card } }: PaymentWithDetails,
): string | undefined => (mailer && (recurringToken !== null || card?.token) ? customerPath(mid) : undefined);

/**
 * Requests a link for an address. Known and unknown addresses take the same statement: the work loop finds out whether the
 * address is known, and sends the link then.
 */
export const requestCustomerLink = (
  gateway: Gateway,
  { mid }: Account,
  email: string,
  language: string,
): Promise<void> =>
  gateway.customers.request({ mid, emailKey: keyOf(gateway, mid, email), email, language }, gateway.clock.now(mid));

/** Sends due links, and deletes those that are over, until none is due. */
export const sendDueCustomerLinks = (gateway: Gateway, isStopped: () => boolean): Promise<void> =>
  processPortions(
    gateway,
    isStopped,
    LIMITS.receiptLeaseMs,
    () => gateway.customers.claimDue(LIMITS.receiptsAtATime),
    (link) => processLink(gateway, link),
  );

/** Never throws: what cannot be recorded is due again after its lease, with another secret. */
async function processLink(gateway: Gateway, link: CustomerLink): Promise<void> {
  try {
    if (link.state === 'requested') await sendLink(gateway, link);
    else await gateway.customers.remove(link);
  } catch (error) {
    gateway.log.error({ mid: link.mid, err: error }, 'customer link could not be sent');
  }
}

async function sendLink(gateway: Gateway, link: CustomerLink): Promise<void> {
  const { mid, email, language, createdAt, attempts } = link;
  const { customers, mailer, clock } = gateway;
  const account = await findAccount(gateway, mid);
  const known = account && (await paymentsOf(gateway, mid, email));
  const isExpired = clock.now(mid) >= createdAt + CUSTOMER_LIMITS.linkMs;
  if (known === 'building' && !isExpired) {
    return customers.record(link, { state: 'requested', dueAt: clock.now(mid) + CUSTOMER_LIMITS.retryMs });
  }
  // The row stays until the pause is over, so that nobody learns from a second request that there is none.
  const over = { state: 'over', dueAt: createdAt + CUSTOMER_LIMITS.pauseMs } as const;
  if (!mailer || !account || !known?.length || isExpired) return customers.record(link, over);
  const secret = newSecret(32);
  // If this process dies from here on, the link is due again after its lease, and the newest e-mail has the link that works.
  if (!(await customers.arm(link, digestOf(gateway, secret)))) return;
  const { kind } = await mailer.send({
    id: `customer-${newSecret()}`,
    date: new Date(clock.real()),
    fromName: displayName(account),
    replyTo: account.settings['branding.support_email'] || undefined,
    to: email,
    ...gateway.writeCustomerLink(account, `${gateway.publicUrl}${customerPath(mid)}/link/${secret}`, language),
  });
  if (kind === 'sent') return customers.record(link, { state: 'sent', dueAt: createdAt + CUSTOMER_LIMITS.linkMs });
  const isRetried = kind === 'failed' && attempts + 1 < CUSTOMER_LIMITS.attempts;
  const dueAt = clock.now(mid) + CUSTOMER_LIMITS.retryMs;
  return customers.record(link, isRetried ? { state: 'requested', dueAt } : over);
}

/** More payments of a payer than any page shows. */
const MOST_PAYMENTS = 1000;

const paymentsOf = ({ erasure }: Gateway, mid: string, email: string): Promise<string[] | 'building'> =>
  erasure.findByEmail(mid, email, MOST_PAYMENTS, FIRST_ID);

/** Whether a link can be used; opening its page uses nothing up, because mail programs open links by themselves. */
export const isCustomerLinkValid = async (gateway: Gateway, { mid }: Account, secret: string): Promise<boolean> =>
  SECRET.test(secret) &&
  (await gateway.customers.find(mid, digestOf(gateway, secret), gateway.clock.now(mid))) !== undefined;

/** Uses a link up; returns the address that it was sent to. */
export const redeemCustomerLink = async (
  gateway: Gateway,
  { mid }: Account,
  secret: string,
): Promise<string | undefined> =>
  SECRET.test(secret) ? gateway.customers.redeem(mid, digestOf(gateway, secret), gateway.clock.now(mid)) : undefined;

/** A card that was entered several times is one card to its payer. */
export interface CustomerCard {
  cardIds: [string, ...string[]];
  masked: string;
  network: string;
}

export interface CustomerSubscription extends SavedSubscription {
  payment: PaymentWithDetails;
}

export interface CustomerPossessions {
  cards: CustomerCard[];
  subscriptions: CustomerSubscription[];
}

/** The cards that an account has saved for the payer with this address, and the subscriptions that charge them. */
export async function savedFor(gateway: Gateway, { mid }: Account, email: string): Promise<CustomerPossessions> {
  const found = await paymentsOf(gateway, mid, email);
  const { cards, subscriptions } = await gateway.customers.saved(mid, found === 'building' ? [] : found);
  const firsts = await gateway.payments.findAll(subscriptions.map(({ firstPaymentId }) => firstPaymentId));
  const payments = new Map(firsts.map((payment) => [payment.paymentId, payment]));
  return {
    cards: [...Map.groupBy(cards, ({ fingerprint }) => fingerprint).values()].map((same) => ({
      cardIds: same.map(({ cardId }) => cardId) as CustomerCard['cardIds'],
      masked: same[0]?.masked ?? '',
      network: same[0]?.network ?? '',
    })),
    subscriptions: subscriptions.flatMap((subscription) => {
      const payment = payments.get(subscription.firstPaymentId);
      return payment ? [{ ...subscription, payment }] : [];
    }),
  };
}

const payerAt = (address: string): Caller => ({ kind: 'system', id: null, name: 'payer', address });

/** Removes one of the payer's cards; `busy` if an open payment uses it, undefined if the payer has no such card. */
export async function removeOwnCard(
  gateway: Gateway,
  account: Account,
  email: string,
  cardId: string,
  address: string,
): Promise<'removed' | 'busy' | undefined> {
  const { mid } = account;
  const { cards } = await savedFor(gateway, account, email);
  const card = cards.find(({ cardIds }) => cardIds.includes(cardId));
  if (!card) return undefined;
  for (const id of card.cardIds) {
    const removed = await gateway.erasure.removeCard(mid, id, {
      actor: 'payer',
      actorName: null,
      at: gateway.clock.now(mid),
      audit: auditEntry(gateway, payerAt(address), 'cards.remove', { mid, subject: id, before: { card: card.masked } }),
    });
    if (typeof removed === 'string') return 'busy';
    gateway.metrics.erased('cards', 1);
  }
  return 'removed';
}

/** Ends one of the payer's subscriptions; false if the payer has no such subscription, or it has ended. */
export async function endOwnSubscription(
  gateway: Gateway,
  account: Account,
  email: string,
  subscriptionId: string,
  address: string,
): Promise<boolean> {
  const { mid } = account;
  const { subscriptions } = await savedFor(gateway, account, email);
  const own = subscriptions.find((subscription) => subscription.subscriptionId === subscriptionId);
  if (!own) return false;
  const before = { schedule_id: own.scheduleId };
  const facts = { mid, subject: subscriptionId, before };
  const audit = auditEntry(gateway, payerAt(address), 'schedules.stop_subscription', facts);
  return gateway.schedules.end({ mid, scheduleId: own.scheduleId, subscriptionId }, audit);
}
