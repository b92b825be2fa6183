/** Begins a session from a link: what the payer typed becomes an ordinary Checkout payment. */
import { hasCardNumber } from '../../lib/cards/search.ts';
import { newId } from '../../lib/crypto/id.ts';
import { amountText, minorUnits } from '../../lib/money/money.ts';
import { limitUnits } from '../../lib/money/refund-limit.ts';
import { typedAmount } from '../../lib/money/typed-amount.ts';
import { isText } from '../../lib/text/json.ts';
import { isPlainText } from '../../lib/text/plain-text.ts';
import { NO_BRAND_YET } from '../../rules/brands.ts';
import { isMailAddress, isPhone } from '../../rules/contacts.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { type Asked, LINK_LIMITS } from '../../rules/links.ts';
import type { Link, OpenedLink } from '../../store/links/links.ts';
import type { PaymentDetails, PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Account, Gateway } from '../context.ts';
import { composePayment, type Order, openPayment } from '../payments/open.ts';
import { canBePaid } from '../payments/payer.ts';
import { linkState } from './state.ts';

/** The bounds of an amount that the payer chooses. */
export interface Bounds {
  least: bigint;
  most: bigint;
}

export const boundsOf = ({ amount, minAmount, maxAmount }: Link): Bounds | undefined =>
  amount === null && minAmount !== null && maxAmount !== null ? { least: minAmount, most: maxAmount } : undefined;

/** What a payer typed, by what was asked for. */
type Typed = Partial<Record<Asked, string>>;

/** What is wrong with a field: it is missing, or does not look right. */
export type TypedProblem = 'missing' | 'invalid';

const isPlain = (value: string): boolean => isText(value, LINK_LIMITS.typed) && isPlainText(value);

const IS_VALID: Readonly<Record<Asked, (value: string) => boolean>> = {
  name: isPlain,
  email: isMailAddress,
  phone: isPhone,
  reference: isPlain,
};

/** What a payer types is stored and sent in callbacks, so a card number at the wrong place is refused. */
const isValid = (name: Asked, value: string): boolean => IS_VALID[name](value) && !hasCardNumber(value);

function readAmount(link: Link, typed: string): bigint | TypedProblem {
  if (link.amount !== null) return link.amount;
  const bounds = boundsOf(link) as Bounds;
  const text = typedAmount(typed, exponentOf(link.currency));
  if (text === '') return 'missing';
  const units = minorUnits(text, exponentOf(link.currency), 'whole');
  return typeof units === 'bigint' && units >= bounds.least && units <= bounds.most ? units : 'invalid';
}

/** What the payer typed, or what is wrong with it, by field. */
export function readTyped(
  link: Link,
  form: ReadonlyMap<string, string>,
): { amount: bigint; typed: Typed } | { problems: Map<string, TypedProblem> } {
  const problems = new Map<string, TypedProblem>();
  const amount = readAmount(link, form.get('amount') ?? '');
  if (typeof amount !== 'bigint') problems.set('amount', amount);
  const typed = Object.fromEntries((link.ask as Asked[]).map((name) => [name, (form.get(name) ?? '').trim()]));
  for (const [name, value] of Object.entries(typed)) {
    if (value === '') problems.set(name, 'missing');
    else if (!isValid(name as Asked, value)) problems.set(name, 'invalid');
  }
  return problems.size > 0 || typeof amount !== 'bigint' ? { problems } : { amount, typed };
}

function payerOf({ name = '', email, phone }: Typed): Record<string, string> {
  const [first = '', ...last] = name.split(/\s+/);
  return {
    ...(first !== '' && { first_name: first }),
    ...(last.length > 0 && { last_name: last.join(' ') }),
    ...(email && { email }),
    ...(phone && { phone }),
  };
}

/** What a session is about, whether it began from a link or otherwise without a request of the merchant. */
export interface Beginning {
  sourceId: string;
  orderPrefix: string;
  amount: bigint;
  currency: string;
  isAuthorisation: boolean;
  details: Omit<PaymentDetails, 'session' | 'payer'>;
  payer: Record<string, string>;
  session: Partial<NonNullable<PaymentDetails['session']>>;
}

/** The order of a session that begins now. */
function orderOf(begun: Beginning, now: number): Order {
  const paymentId = newId();
  const until = now + LIMITS.sessionMinutes * LIMITS.minuteMs;
  const { payer } = begun;
  return {
    protocol: 'checkout',
    brand: NO_BRAND_YET,
    paymentId,
    orderId: `${begun.orderPrefix}${paymentId.replaceAll('-', '').slice(-16)}`,
    amountText: amountText(begun.amount, exponentOf(begun.currency)),
    currency: begun.currency,
    isAuthorisation: begun.isAuthorisation,
    isRecurringInit: false,
    payerUntil: until,
    details: {
      ...begun.details,
      payer,
      session: { id: paymentId, until, successUrl: '', methods: [], parameters: {}, ...begun.session, payer },
    },
    content: paymentId,
  };
}

/**
 * Opens the session. The order is written first: a payment without it would hold no use. An order whose payment was not
 * opened holds nothing.
 */
export async function beginSession(gateway: Gateway, account: Account, begun: Beginning): Promise<PaymentWithDetails> {
  const { mid } = account;
  const now = gateway.clock.now(mid);
  const order = orderOf(begun, now);
  await gateway.begunOrders.insert({ mid, sourceId: begun.sourceId, orderId: order.orderId }, now);
  return openPayment(gateway, account, order);
}

/** What a session of a link is about. */
function beginningOf(link: Link, amount: bigint, typed: Typed): Beginning {
  const { linkId, title, description, currency, isAuthorisation, methods, successUrl } = link;
  const { reference } = typed;
  return {
    sourceId: linkId,
    orderPrefix: link.orderPrefix || 'link-',
    amount,
    currency,
    isAuthorisation,
    details: {
      description: description === '' ? title : `${title}. ${description}`,
      ...(reference !== undefined && { customData: { reference } }),
    },
    payer: payerOf(typed),
    session: { linkId, methods, successUrl },
  };
}

/** Whether the methods of a link can pay some amount of it. The bounds of routes are where that changes. */
export function canPayLink(gateway: Gateway, account: Account, link: Link): boolean {
  const exponent = exponentOf(link.currency);
  const { least, most } = boundsOf(link) ?? { least: link.amount ?? 0n, most: link.amount ?? 0n };
  const ofRoutes = account.routes
    .flatMap(({ minAmount, maxAmount }) => [minAmount, maxAmount])
    .flatMap((bound) => (bound === null ? [] : limitUnits(bound, exponent)));
  const amounts = new Set([least, most, ...ofRoutes.filter((units) => units > least && units < most)]);
  const now = gateway.clock.now(account.mid);
  return [...amounts].some((amount) =>
    canBePaid(gateway, composePayment(gateway, account, orderOf(beginningOf(link, amount, {}), now)), account),
  );
}

/** Begins a session of a link with what its payer typed; refuses a link that cannot be paid. */
export function beginFromLink(
  gateway: Gateway,
  account: Account,
  link: OpenedLink,
  { amount, typed }: { amount: bigint; typed: Typed },
): Promise<PaymentWithDetails> {
  if (account.isSuspended || linkState(link, gateway.clock.now(link.mid)) !== 'active') throw new Refusal('notPayable');
  return beginSession(gateway, account, beginningOf(link, amount, typed));
}
