/** The payer's view of a payment: finds it by its link and lists the payment methods that are still offered. */
import { minorUnits } from '../../lib/money/money.ts';
import { type Brand, brandOf, CARD, fieldsToAsk, NO_BRAND_YET } from '../../rules/brands.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { isOpen } from '../../rules/states.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Schedule } from '../../store/schedules/schedules.ts';
import { findAccount } from '../accounts/accounts.ts';
import { hasNoAttemptsLeft } from '../cards/card-attempts.ts';
import { type SavedCard, savedCards } from '../cards/vault.ts';
import { acceptedNetworks } from '../connections/route.ts';
import type { Account, Gateway } from '../context.ts';
import { subscriptionTo } from '../schedules/subscribe.ts';
import { type PageWallet, walletsFor } from '../wallets/page.ts';
import { detailsAsSent, fieldContextsOf, type Method, methodsFor } from './choose.ts';
import { isOutOfTime } from './deadlines.ts';
import { findByLink } from './links.ts';
import { endOutOfTime, resumeOnReturn } from './provider.ts';

export interface PayerView {
  payment: PaymentWithDetails;
  account: Account;
  /** The methods that the payer can choose; empty if there is nothing to choose or to fill in. */
  methods: readonly Method[];
  /** The device wallets that the payer can choose, if the browser has them. */
  wallets: readonly PageWallet[];
  /** The saved cards that the payer can choose, if cards are offered. */
  savedCards: readonly SavedCard[];
  /** The card networks that are accepted; undefined if all are, or if no card is entered here. */
  networks?: readonly string[] | undefined;
  /** The charges that follow this payment, if it starts a series. */
  series?: Series | undefined;
  /** The session has used all its card attempts. */
  areCardsSpent?: true;
}

/** What the payer is told about a series of payments: its terms, if it follows a schedule. */
export interface Series {
  charges?: { schedule: Schedule; firstAt: number; amount: bigint } | undefined;
}

/** The series that a session starts. */
async function seriesOf(gateway: Gateway, payment: PaymentWithDetails): Promise<Series | undefined> {
  const { mid, scheduleId, details, currency, isRecurringInit } = payment;
  if (details.session === undefined || (!isRecurringInit && scheduleId === null)) return undefined;
  const schedule = scheduleId === null ? undefined : await gateway.schedules.find(mid, scheduleId);
  if (!schedule) return {};
  const amount = minorUnits(details.session.scheduleAmount ?? '', exponentOf(currency), 'number');
  const { nextAt } = subscriptionTo(schedule, payment);
  return {
    charges: { schedule, firstAt: nextAt ?? 0, amount: typeof amount === 'bigint' ? amount : payment.amount },
  };
}

/** Opens the payment of a link, and ends it if its deadline has passed. */
export async function openForPayer(gateway: Gateway, link: string): Promise<PayerView | undefined> {
  const linked = await findByLink(gateway, link);
  const account = linked && (await findAccount(gateway, linked.mid));
  if (!linked || !account) return undefined;
  const found = await newestOfSession(gateway, linked);
  if (!found) return { payment: linked, account, ...NOTHING, savedCards: [] };
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
  const choices = choicesOf(gateway, payment, account);
  const isRetry = payment.state === 'DECLINED' && hasChoices(choices);
  const tokens = payment.details.session?.cardTokens ?? [];
  const hasCards = choices.methods.some(({ label, isHosted }) => label === CARD && !isHosted);
  return {
    payment: isRetry ? { ...payment, details: detailsAsSent(payment.details) } : payment,
    account,
    ...choices,
    series: hasChoices(choices) ? await seriesOf(gateway, payment) : undefined,
    savedCards: hasCards && tokens.length > 0 ? await savedCards(gateway, payment.mid, tokens) : [],
    networks: hasCards ? acceptedNetworks(gateway, account, payment) : undefined,
  };
}

type Choices = Pick<PayerView, 'methods' | 'wallets'>;
const NOTHING: Choices = { methods: [], wallets: [] };

export const hasChoices = ({ methods, wallets }: Choices): boolean => methods.length > 0 || wallets.length > 0;

function choicesOf(gateway: Gateway, payment: PaymentWithDetails, account: Account): Choices {
  // No money has moved yet, so a suspended account offers nothing.
  if (account.isSuspended) return NOTHING;
  const { state, brand, nextStep, details } = payment;
  if (state === 'REDIRECT' && nextStep?.kind === 'fields') {
    const row = brandOf(brand) as Brand;
    const fields = fieldsToAsk(row, fieldContextsOf(gateway, payment, account)(brand));
    return { methods: [{ label: brand, fields }], wallets: [] };
  }
  const isChoosing = state === 'PREPARE' && brand === NO_BRAND_YET;
  const isInSession = details.session !== undefined && gateway.clock.now(payment.mid) < details.session.until;
  const mayTryAgain = state === 'DECLINED' && isInSession;
  if (!isChoosing && !mayTryAgain) return NOTHING;
  const asSent = { ...payment, details: detailsAsSent(details) };
  return { methods: methodsFor(gateway, asSent, account), wallets: walletsFor(gateway, asSent, account) };
}

/** Whether a new session offers its payer any method. */
export const canBePaid = (gateway: Gateway, payment: PaymentWithDetails, account: Account): boolean =>
  methodsFor(gateway, payment, account).length > 0 || walletsFor(gateway, payment, account).length > 0;

/** Removes cards, those of wallets included, from the view if the session has used all its card attempts. */
export async function withoutSpentCards(gateway: Gateway, view: PayerView): Promise<PayerView> {
  const methods = view.methods.filter(({ label }) => label !== CARD);
  const hasCards = methods.length < view.methods.length || view.wallets.length > 0;
  return hasCards && (await hasNoAttemptsLeft(gateway, view.account, view.payment))
    ? { ...view, methods, wallets: [], savedCards: [], areCardsSpent: true }
    : view;
}

/** Opens the payment of a link when the payer returns with these parameters; an open payment continues or is queried. */
export async function openOnReturn(
  gateway: Gateway,
  link: string,
  returned: Readonly<Record<string, string>>,
): Promise<PayerView | undefined> {
  const view = await openForPayer(gateway, link);
  if (!view || !isOpen(view.payment.state) || hasChoices(view)) return view;
  const payment = await resumeOnReturn(gateway, view.payment, view.account, returned);
  return withChoices(gateway, payment, view.account);
}
