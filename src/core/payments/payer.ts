/** A payment as its payer meets it: behind which link, with which choices left, and what became of it. */
import { type Brand, brandOf, CARD, fieldsToAsk, NO_BRAND_YET } from '../../rules/brands.ts';
import { isOpen } from '../../rules/states.ts';
import type { WholePayment } from '../../store/payments.ts';
import { findAccount } from '../accounts.ts';
import { hasNoAttemptsLeft } from '../card-attempts.ts';
import type { Account, Gateway } from '../context.ts';
import { type SavedCard, savedCards } from '../vault.ts';
import { detailsAsSent, fieldContextsOf, type Method, methodsFor } from './choose.ts';
import { isOutOfTime } from './deadlines.ts';
import { findByLink } from './links.ts';
import { endOutOfTime, queryProviderNow } from './provider.ts';

export interface PayerView {
  payment: WholePayment;
  account: Account;
  /** The ways to pay that are left to the payer; empty when there is nothing to choose or to fill in. */
  methods: readonly Method[];
  /** The cards of earlier payments that are offered to the payer, where one may pay by card. */
  savedCards: readonly SavedCard[];
  /** The session has had all its tries of cards. */
  areCardsSpent?: true;
}

/** The payment of a link as it is now: one whose time is over has ended. */
export async function openForPayer(gateway: Gateway, link: string): Promise<PayerView | undefined> {
  const linked = await findByLink(gateway, link);
  const account = linked && (await findAccount(gateway, linked.mid));
  if (!linked || !account) return undefined;
  const found = await newestOfSession(gateway, linked);
  if (!found) return { payment: linked, account, methods: [], savedCards: [] };
  const payment = isOutOfTime(gateway, found) ? await endOutOfTime(gateway, found, account) : found;
  return withChoices(gateway, payment, account);
}

/** A session is one link, whatever number of attempts it takes; nothing when the order has gone on without it. */
async function newestOfSession(gateway: Gateway, linked: WholePayment): Promise<WholePayment | undefined> {
  const { session } = linked.details;
  if (!session) return linked;
  const newest = await gateway.payments.findByOrder(linked);
  return newest?.details.session?.id === session.id ? newest : undefined;
}

/** What is left to the payer. After a decline they begin anew, with what the merchant sent and nothing else. */
async function withChoices(gateway: Gateway, payment: WholePayment, account: Account): Promise<PayerView> {
  const methods = choicesOf(gateway, payment, account);
  const isAgain = payment.state === 'DECLINED' && methods.length > 0;
  const tokens = payment.details.session?.cardTokens ?? [];
  const hasCards = tokens.length > 0 && methods.some(({ label }) => label === CARD);
  return {
    payment: isAgain ? { ...payment, details: detailsAsSent(payment.details) } : payment,
    account,
    methods,
    savedCards: hasCards ? await savedCards(gateway, payment.mid, tokens) : [],
  };
}

function choicesOf(gateway: Gateway, payment: WholePayment, account: Account): Method[] {
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

/** What a page offers: no cards any more, when the session has had its tries of them. */
export async function withoutSpentCards(gateway: Gateway, view: PayerView): Promise<PayerView> {
  const methods = view.methods.filter(({ label }) => label !== CARD);
  const hasCards = methods.length < view.methods.length;
  return hasCards && (await hasNoAttemptsLeft(gateway, view.account, view.payment))
    ? { ...view, methods, savedCards: [], areCardsSpent: true }
    : view;
}

/** The payment of a link when the payer comes back: the provider is asked what became of it. */
export async function openOnReturn(gateway: Gateway, link: string): Promise<PayerView | undefined> {
  const view = await openForPayer(gateway, link);
  if (!view || !isOpen(view.payment.state) || view.methods.length > 0) return view;
  return withChoices(gateway, await queryProviderNow(gateway, view.payment, view.account), view.account);
}
