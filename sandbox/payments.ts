/** What happens to a payment out there: it is taken on, approved, declined, confirmed, charged back. */
import { newSecret } from '../src/lib/id.ts';
import { clabe, cvu, digitsOf } from './accounts.ts';
import { type Behaviour, brandOf, DECLINED, DECLINED_PAYER } from './brands.ts';
import { type CardRow, DECLINED_BY_BANK, expiryOf, flawOf, keptOf, refusalOf, rowOf } from './cards.ts';
import { ipsQr } from './ips-qr.ts';
import type { Change, Ledger, Payment, Status } from './ledger.ts';
import type { Newsroom } from './news.ts';
import type { Order } from './order.ts';
import type { ProofOf } from './proof.ts';
import type { Timers } from './timers.ts';

/** What everything that happens needs. */
export interface World {
  ledger: Ledger;
  news: Newsroom;
  timers: Timers;
  proofOf: ProofOf;
  /** The address of a path as the payer's browser sees it. */
  link(path: string): string;
}

/** What makes no sense is refused with a sentence. */
export class Refused extends Error {
  readonly statusCode = 409;
}

const FIRST: Readonly<Record<Behaviour, Status>> = {
  instant: 'settled',
  redirect: 'redirect',
  approval: 'pending',
  qr: 'pending',
  transfer: 'pending',
  payout: 'sending',
};

const PAYOUT_MS = 500;
const CONFIRMATION_MS = 400;
const CONFIRMATIONS = 3;
export const LATE_MS = 400;

/** It is the payer's turn. */
const WAITING: readonly Status[] = ['redirect', 'pending'];
const OPEN: readonly Status[] = [...WAITING, 'confirming', 'sending'];

/** A sale is settled unless only its amount is to be reserved. */
const landed = (payment: Pick<Payment, 'capture' | 'direction'>): Status =>
  payment.capture || payment.direction === 'out' ? 'settled' : 'authorised';

const WORDS: Readonly<Record<Status, string>> = {
  redirect: 'redirect',
  pending: 'pending',
  confirming: 'pending',
  sending: 'pending',
  authorised: 'authorised',
  settled: 'settled',
  declined: 'declined',
  voided: 'voided',
};
const QR_WORDS: Readonly<Record<Status, string>> = { ...WORDS, settled: 'executed', declined: 'rejected' };

export const isWaiting = (payment: Payment): boolean => WAITING.includes(payment.status);

export const wordOf = (payment: Payment): string =>
  (brandOf(payment).behaviour === 'qr' ? QR_WORDS : WORDS)[payment.status];

/** What the payer has to know for a transfer. */
export const instructionsOf = ({ reference, brand, merchant }: Payment) => ({
  account_number: brand === 'transfer-b' ? clabe(reference) : cvu(reference),
  account_holder: merchant || 'Sandbox',
  reference: digitsOf(reference, 7),
});

export const qrOf = ({ amount, currency, reference, description, merchant }: Payment): string =>
  ipsQr({ amount, currency, reference, description, payee: merchant });

/** The payment as the gateway is told of it. */
export function told(world: World, payment: Payment) {
  const { id, reference, amount, currency, reason, method, token, status } = payment;
  const { behaviour } = brandOf(payment);
  return {
    id,
    reference,
    status: wordOf(payment),
    amount,
    currency,
    ...(reason !== null && { reason }),
    ...(method !== null && { method }),
    ...(status === 'redirect' && { redirect: { url: world.link(`/pay/${token}`), method: 'GET', params: {} } }),
    ...(status === 'pending' && behaviour === 'qr' && { qr: qrOf(payment) }),
    ...(status === 'pending' && behaviour === 'transfer' && { instructions: instructionsOf(payment) }),
  };
}

function reasonToDecline(order: Order): string | undefined {
  if (order.identifier === DECLINED_PAYER || order.email === DECLINED_PAYER) return DECLINED;
  if (order.card) return flawOf(order.card, Date.now()) ?? refusalOf(order.card);
  const rule = brandOf(order).declines;
  const value = rule && order.parameters[rule.parameter];
  return typeof value === 'string' && rule?.pattern.test(value) ? rule.reason : undefined;
}

/** How the line goes dead by itself with this payment, if it does. */
export const lineOf = (order: Order): CardRow['line'] =>
  order.card && reasonToDecline(order) === undefined ? rowOf(expiryOf(order.card)).line : undefined;

/** What the bank does with the card of this payment. */
export function cardRowOf({ ledger }: World, { reference }: Pick<Payment, 'reference'>): CardRow {
  const card = ledger.card(reference);
  return card ? rowOf(card.expiry) : {};
}

/** A card that makes no sense is not written down, as its parts may hold anything. */
function keepCard({ ledger }: World, { reference, card }: Order): void {
  if (!card || flawOf(card, Date.now()) !== undefined) return;
  ledger.addCard({ reference, ...keptOf(card.number, expiryOf(card)) });
}

function firstOf({ brand, direction, card }: Order): Status {
  const isRedirected = card !== null && direction === 'in' && rowOf(expiryOf(card)).page !== undefined;
  return isRedirected ? 'redirect' : FIRST[brandOf({ brand, direction }).behaviour];
}

/** Takes a payment on, once; a late success is declined now and happens all the same a little later. */
export function submit(world: World, order: Order, isLateSuccess: boolean): Payment {
  const { identifier: _identifier, email: _email, parameters: _parameters, card: _card, ...kept } = order;
  const reason = isLateSuccess ? DECLINED : reasonToDecline(order);
  const first = firstOf(order);
  const status = reason !== undefined ? 'declined' : first === 'settled' ? landed(order) : first;
  const createdAt = Date.now();
  const waitMs = isLateSuccess ? LATE_MS : status === 'sending' ? PAYOUT_MS : undefined;
  const payment: Payment = {
    ...kept,
    id: `prv_${newSecret(12)}`,
    token: newSecret(16),
    method: null,
    status,
    reason: reason ?? null,
    confirmations: 0,
    createdAt,
    dueAt: waitMs === undefined ? null : createdAt + waitMs,
  };
  const isNew = world.ledger.transaction(() => {
    if (!world.ledger.addPayment(payment)) return false;
    keepCard(world, order);
    if (status === 'settled') moveMoney(world, payment);
    return true;
  });
  if (isNew) goOnLater(world, payment);
  return world.ledger.payment(order.reference) as Payment;
}

const moveMoney = ({ ledger }: World, { reference, direction, amount, currency }: Payment): boolean =>
  ledger.addMovement({
    reference,
    operation: '',
    kind: direction === 'out' ? 'payout' : 'sale',
    direction,
    amount,
    currency,
  });

export function goOnLater(world: World, { reference, dueAt }: Pick<Payment, 'reference' | 'dueAt'>): void {
  if (dueAt !== null) world.timers.at(dueAt, () => goOn(world, reference));
}

/** What a payment does by itself when its time has come. */
function goOn(world: World, reference: string): void {
  const payment = world.ledger.payment(reference);
  if (!payment || payment.dueAt === null || payment.dueAt > Date.now()) return;
  const confirmations = payment.confirmations + 1;
  if (brandOf(payment).behaviour === 'qr') {
    bankSays(world, payment, 'ACSC');
  } else if (payment.status === 'confirming' && confirmations < CONFIRMATIONS) {
    happen(world, payment, ['confirming'], confirming(confirmations));
  } else {
    happen(world, payment, [payment.status], { status: landed(payment) });
  }
}

const confirming = (confirmations: number): Change => ({
  status: 'confirming',
  confirmations,
  dueAt: Date.now() + CONFIRMATION_MS,
});

/** An instant payment has no news of its own: it is asked about, or its bank speaks. */
function writePaymentNews({ news }: World, payment: Payment): void {
  if (brandOf(payment).behaviour === 'qr') return;
  const { reason, method, confirmations, status } = payment;
  news.write(payment, {
    type: 'payment',
    status: wordOf(payment),
    ...(reason !== null && { reason }),
    ...(method !== null && { method }),
    ...(status === 'confirming' && { confirmations }),
  });
}

/** The one door: a change, the money that moves with it and the news of it, all or nothing. */
function happen(
  world: World,
  { reference }: Payment,
  from: readonly Status[],
  change: Change,
  writeNews: (payment: Payment) => void = (payment) => writePaymentNews(world, payment),
): boolean {
  const changed = world.ledger.transaction(() => {
    if (!world.ledger.move(reference, from, change)) return undefined;
    const payment = world.ledger.payment(reference) as Payment;
    if (change.status === 'settled') moveMoney(world, payment);
    writeNews(payment);
    return payment;
  });
  if (!changed) return false;
  goOnLater(world, changed);
  world.news.send(reference);
  return true;
}

/** The payer decides, once; some cards decide for them. */
export function decide(world: World, payment: Payment, choice: 'approve' | 'decline', method?: string): void {
  const { behaviour, scene } = brandOf(payment);
  const { page } = cardRowOf(world, payment);
  const decision = page ?? choice;
  if (behaviour === 'qr') {
    if (isWaiting(payment)) bankSays(world, payment, decision === 'approve' ? 'ACSC' : 'RJCT');
  } else if (decision === 'decline') {
    const reason = page ? DECLINED_BY_BANK : 'The payer declined the payment.';
    happen(world, payment, WAITING, { status: 'declined', reason });
  } else {
    const isCoin = scene === 'crypto' && payment.status === 'redirect';
    happen(world, payment, WAITING, isCoin ? confirming(0) : { status: landed(payment), method });
  }
}

/** What the provider may be told to say, and after what: late truth is truth, but money that moved has moved. */
const SAYINGS = {
  executed: { change: { status: 'settled' }, from: [...OPEN, 'authorised', 'declined'] },
  rejected: { change: { status: 'declined', reason: DECLINED }, from: [...OPEN, 'authorised'] },
  pending: { change: { status: 'pending' }, from: [...OPEN, 'declined'] },
} as const satisfies Record<string, { change: Change; from: readonly Status[] }>;

export type Saying = keyof typeof SAYINGS;
export const isSaying = (value: unknown): value is Saying => typeof value === 'string' && Object.hasOwn(SAYINGS, value);

/** Changes the payment as it is told; what is so already is only told again. */
function say(world: World, payment: Payment, saying: Saying | undefined, writeNews: (payment: Payment) => void): void {
  if (saying === undefined || payment.status === SAYINGS[saying].change.status) {
    world.ledger.transaction(() => writeNews(payment));
    world.news.send(payment.reference);
    return;
  }
  const { change, from } = SAYINGS[saying];
  if (!happen(world, payment, from, change, writeNews)) {
    throw new Refused(`A payment that is ${wordOf(payment)} cannot become ${saying}.`);
  }
}

export const providerSays = (world: World, payment: Payment, saying: Saying): void =>
  say(world, payment, saying, (changed) => writePaymentNews(world, changed));

const BANK_CODES: Readonly<Record<string, Saying>> = { ACSC: 'executed', ACCC: 'executed', RJCT: 'rejected' };

export function bankSays(world: World, payment: Payment, code: string): void {
  const saying = Object.hasOwn(BANK_CODES, code) ? BANK_CODES[code] : undefined;
  say(world, payment, saying, (changed) => world.news.write(changed, { type: 'bank_status', code }));
}

export const canBeChargedBack = ({ ledger }: World, { reference, status }: Payment): boolean =>
  status === 'settled' && ledger.balance(reference) > 0n;

/** The payer's bank takes back what is left of the payment. */
export function chargeBack(world: World, payment: Payment): void {
  const { ledger, news } = world;
  if (!canBeChargedBack(world, payment)) throw new Refused('There is no money that could be charged back.');
  const { reference, currency } = payment;
  ledger.transaction(() => {
    const amount = String(ledger.balance(reference));
    ledger.addMovement({ reference, operation: '', kind: 'chargeback', direction: 'out', amount, currency });
    news.write({ ...payment, amount }, { type: 'chargeback' });
  });
  news.send(reference);
}
