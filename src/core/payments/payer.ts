/** A payment as its payer meets it: behind which link, with which choices left, and what became of it. */
import { type Brand, brandOf, fieldsToAsk, UNCHOSEN } from '../../rules/brands.ts';
import { isOpen } from '../../rules/states.ts';
import type { WholePayment } from '../../store/payments.ts';
import { findAccount } from '../accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { abandon, isOutOfTime } from './advance.ts';
import { contextOf, type Method, methodsFor } from './choose.ts';
import { findByLink } from './links.ts';
import { inquireNow } from './provider.ts';

export interface PayerView {
  payment: WholePayment;
  account: Account;
  /** The ways to pay that are left to the payer; empty when there is nothing to choose or to fill in. */
  methods: readonly Method[];
}

/** The payment of a link as it is now: one whose time is over has ended. */
export async function openForPayer(gateway: Gateway, link: string): Promise<PayerView | undefined> {
  const linked = await findByLink(gateway, link);
  const account = linked && (await findAccount(gateway, linked.mid));
  if (!linked || !account) return undefined;
  const found = await newestAttempt(gateway, linked);
  const payment = isOutOfTime(gateway, found) ? { ...found, ...(await abandon(gateway, found)) } : found;
  return { payment, account, methods: choicesOf(gateway, payment, account) };
}

/** A session is one link, whatever number of attempts it takes. */
async function newestAttempt(gateway: Gateway, linked: WholePayment): Promise<WholePayment> {
  const { session } = linked.details;
  if (!session) return linked;
  const [newest] = await gateway.payments.attempts(linked, 1);
  return newest?.details.session?.id === session.id ? newest : linked;
}

function choicesOf(gateway: Gateway, payment: WholePayment, account: Account): Method[] {
  const { state, brand, nextStep, details, payerUntil } = payment;
  if (state === 'REDIRECT' && nextStep?.kind === 'fields') {
    const row = brandOf(brand) as Brand;
    return [{ label: brand, title: brand, fields: fieldsToAsk(row, contextOf(gateway, payment, account, brand)) }];
  }
  const isChoosing = state === 'PREPARE' && brand === UNCHOSEN;
  const isInSession = details.session !== undefined && gateway.clock.now(payment.mid) < (payerUntil ?? 0);
  const mayTryAgain = state === 'DECLINED' && isInSession;
  return isChoosing || mayTryAgain ? methodsFor(gateway, payment, account) : [];
}

/** The payment of a link when the payer comes back: the provider is asked what became of it. */
export async function returnOfPayer(gateway: Gateway, link: string): Promise<PayerView | undefined> {
  const view = await openForPayer(gateway, link);
  if (!view || !isOpen(view.payment.state) || view.methods.length > 0) return view;
  const answered = await inquireNow(gateway, view.payment, view.account);
  const payment = { ...view.payment, ...answered };
  return { ...view, payment, methods: choicesOf(gateway, payment, view.account) };
}
