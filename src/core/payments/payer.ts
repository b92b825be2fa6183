/** The payer's view of a payment: finds it by its link and lists the payment methods that are still offered. */
import { type Brand, brandOf, CARD, fieldsToAsk, NO_BRAND_YET } from '../../rules/brands.ts';
import { isOpen } from '../../rules/states.ts';
import type { PaymentWithDetails } from '../../store/payments.ts';
import { findAccount } from '../accounts.ts';
import { hasNoAttemptsLeft } from '../card-attempts.ts';
import type { Account, Gateway } from '../context.ts';
import { type SavedCard, savedCards } from '../vault.ts';
import { detailsAsSent, fieldContextsOf, type Method, methodsFor } from './choose.ts';
import { isOutOfTime } from './deadlines.ts';
import { findByLink } from './links.ts';
import { endOutOfTime, resumeOnReturn } from './provider.ts';

export interface PayerView {
  payment: PaymentWithDetails;
  account: Account;
  /** The methods that the payer can choose; empty if there is nothing to choose or to fill in. */
  methods: readonly Method[];
  /** The saved cards that the payer can choose, if cards are offered. */
  savedCards: readonly SavedCard[];
  /** The session has used all its card attempts. */
  areCardsSpent?: true;
}

/** Opens the payment of a link, and ends it if its deadline has passed. */
export async function openForPayer(gateway: Gateway, link: string): Promise<PayerView | undefined> {
  const linked = await findByLink(gateway, link);
  const account = linked && (await findAccount(gateway, linked.mid));
  if (!linked || !account) return undefined;
  const found = await newestOfSession(gateway, linked);
  if (!found) return { payment: linked, account, methods: [], savedCards: [] };
  const payment = isOutOfTime(gateway, found) ? await endOutOfTime(gateway, found, account) : found;
  return withChoices(gateway, payment, account);
}

/** All attempts of a session share one link; undefined if the newest attempt of the order is not of this session. */
async function newestOfSession(gateway: Gateway, linked: PaymentWithDetails): Promise<PaymentWithDetails | undefined> {
  const { session } = linked.details;
  if (!session) return linked;
  const newest = await gateway.payments.findByOrder(linked);
  return newest?.details.session?.id === session.id ? newest : undefined;
}

/** Adds the methods that are offered. After a decline the payer starts again with the merchant's data only. */
async function withChoices(gateway: Gateway, payment: PaymentWithDetails, account: Account): Promise<PayerView> {
  const methods = choicesOf(gateway, payment, account);
  const isRetry = payment.state === 'DECLINED' && methods.length > 0;
  const tokens = payment.details.session?.cardTokens ?? [];
  const hasCards = tokens.length > 0 && methods.some(({ label, isHosted }) => label === CARD && !isHosted);
  return {
    payment: isRetry ? { ...payment, details: detailsAsSent(payment.details) } : payment,
    account,
    methods,
    savedCards: hasCards ? await savedCards(gateway, payment.mid, tokens) : [],
  };
}

function choicesOf(gateway: Gateway, payment: PaymentWithDetails, account: Account): Method[] {
  // No money has moved yet, so a suspended account offers nothing.
  if (account.isSuspended) return [];
  const { state, brand, nextStep, details } = payment;
  if (state === 'REDIRECT' && nextStep?.kind === 'fields') {
    const row = brandOf(brand) as Brand;
    return [
      { label: brand, title: brand, fields: fieldsToAsk(row, fieldContextsOf(gateway, payment, account)(brand)) },
    ];
  }
  const isChoosing = state === 'PREPARE' && brand === NO_BRAND_YET;
  const isInSession = details.session !== undefined && gateway.clock.now(payment.mid) < details.session.until;
  const mayTryAgain = state === 'DECLINED' && isInSession;
  return isChoosing || mayTryAgain ? methodsFor(gateway, { ...payment, details: detailsAsSent(details) }, account) : [];
}

/** Removes cards from the view if the session has used all its card attempts. */
export async function withoutSpentCards(gateway: Gateway, view: PayerView): Promise<PayerView> {
  const methods = view.methods.filter(({ label }) => label !== CARD);
  const hasCards = methods.length < view.methods.length;
  return hasCards && (await hasNoAttemptsLeft(gateway, view.account, view.payment))
    ? { ...view, methods, savedCards: [], areCardsSpent: true }
    : view;
}

/** Opens the payment of a link when the payer returns with these parameters; an open payment continues or is queried. */
export async function openOnReturn(
  gateway: Gateway,
  link: string,
  returned: Readonly<Record<string, string>>,
): Promise<PayerView | undefined> {
  const view = await openForPayer(gateway, link);
  if (!view || !isOpen(view.payment.state) || view.methods.length > 0) return view;
  const payment = await resumeOnReturn(gateway, view.payment, view.account, returned);
  return withChoices(gateway, payment, view.account);
}
