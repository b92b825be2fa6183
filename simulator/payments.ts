/** What happens to a payment out there: it is taken on, approved, declined, confirmed, charged back. */
import { newSecret } from '../src/lib/id.ts';
import { clabe, cvu, digitsOf } from './accounts.ts';
import { type Behaviour, brandOf, DECLINED, DECLINED_PAYER } from './brands.ts';
import { type CardRow, cardProblem, DECLINED_BY_BANK, expiryOf, keptOf, refusalOf, rowOf } from './cards.ts';
import { ipsQr } from './ips-qr.ts';
import type { Change, Ledger, Payment, Status } from './ledger.ts';
import type { NotificationSender } from './notifications.ts';
import type { SimulatedOrder } from './order.ts';
import type { ProofOf } from './proof.ts';
import type { Timers } from './timers.ts';

/** What everything that happens needs. */
export interface Simulator {
  ledger: Ledger;
  notifications: NotificationSender;
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

const WIRE_STATUSES: Readonly<Record<Status, string>> = {
  redirect: 'redirect',
  pending: 'pending',
  confirming: 'pending',
  sending: 'pending',
  authorised: 'authorised',
  settled: 'settled',
  declined: 'declined',
  voided: 'voided',
};
const QR_WIRE_STATUSES: Readonly<Record<Status, string>> = {
  ...WIRE_STATUSES,
  settled: 'executed',
  declined: 'rejected',
};

export const isWaiting = (payment: Payment): boolean => WAITING.includes(payment.status);

export const wireStatusOf = (payment: Payment): string =>
  (brandOf(payment).behaviour === 'qr' ? QR_WIRE_STATUSES : WIRE_STATUSES)[payment.status];

/** What the payer has to know for a transfer. */
export const instructionsOf = ({ reference, brand, merchant }: Payment) => ({
  account_number: brand === 'transfer-b' ? clabe(reference) : cvu(reference),
  account_holder: merchant || 'Sandbox',
  reference: digitsOf(reference, 7),
});

export const qrOf = ({ amount, currency, reference, description, merchant }: Payment): string =>
  ipsQr({ amount, currency, reference, description, payee: merchant });

/** The payment as the gateway is told of it. */
export function paymentResponse(simulator: Simulator, payment: Payment) {
  const { id, reference, amount, currency, reason, method, token, status } = payment;
  const { behaviour } = brandOf(payment);
  return {
    id,
    reference,
    status: wireStatusOf(payment),
    amount,
    currency,
    ...(reason !== null && { reason }),
    ...(method !== null && { method }),
    ...(status === 'redirect' && { redirect: { url: simulator.link(`/pay/${token}`), method: 'GET', params: {} } }),
    ...(status === 'pending' && behaviour === 'qr' && { qr: qrOf(payment) }),
    ...(status === 'pending' && behaviour === 'transfer' && { instructions: instructionsOf(payment) }),
  };
}

function reasonToDecline(order: SimulatedOrder): string | undefined {
  if (order.identifier === DECLINED_PAYER || order.email === DECLINED_PAYER) return DECLINED;
  if (order.card) return cardProblem(order.card, Date.now()) ?? refusalOf(order.card);
  const rule = brandOf(order).declines;
  const value = rule && order.parameters[rule.parameter];
  return typeof value === 'string' && rule?.pattern.test(value) ? rule.reason : undefined;
}

/** How the line goes dead by itself with this payment, if it does. */
export const connectionFaultOf = (order: SimulatedOrder): CardRow['line'] =>
  order.card && reasonToDecline(order) === undefined ? rowOf(expiryOf(order.card)).line : undefined;

/** What the bank does with the card of this payment. */
export function cardRowOf({ ledger }: Simulator, { reference }: Pick<Payment, 'reference'>): CardRow {
  const card = ledger.card(reference);
  return card ? rowOf(card.expiry) : {};
}

/** A card that makes no sense is not written down, as its parts may hold anything. */
function keepCard({ ledger }: Simulator, { reference, card }: SimulatedOrder): void {
  if (!card || cardProblem(card, Date.now()) !== undefined) return;
  ledger.addCard({ reference, ...keptOf(card.number, expiryOf(card)) });
}

function firstOf({ brand, direction, card }: SimulatedOrder): Status {
  const isRedirected = card !== null && direction === 'in' && rowOf(expiryOf(card)).page !== undefined;
  return isRedirected ? 'redirect' : FIRST[brandOf({ brand, direction }).behaviour];
}

/** Takes a payment on, once; a late success is declined now and happens all the same a little later. */
export function submit(simulator: Simulator, order: SimulatedOrder, isLateSuccess: boolean): Payment {
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
  const isNew = simulator.ledger.transaction(() => {
    if (!simulator.ledger.addPayment(payment)) return false;
    keepCard(simulator, order);
    if (status === 'settled') moveMoney(simulator, payment);
    return true;
  });
  if (isNew) scheduleProgress(simulator, payment);
  return simulator.ledger.payment(order.reference) as Payment;
}

const moveMoney = ({ ledger }: Simulator, { reference, direction, amount, currency }: Payment): boolean =>
  ledger.addMovement({
    reference,
    operation: '',
    kind: direction === 'out' ? 'payout' : 'sale',
    direction,
    amount,
    currency,
  });

export function scheduleProgress(
  simulator: Simulator,
  { reference, dueAt }: Pick<Payment, 'reference' | 'dueAt'>,
): void {
  if (dueAt !== null) simulator.timers.at(dueAt, () => progress(simulator, reference));
}

/** What a payment does by itself when its time has come. */
function progress(simulator: Simulator, reference: string): void {
  const payment = simulator.ledger.payment(reference);
  if (!payment || payment.dueAt === null || payment.dueAt > Date.now()) return;
  const confirmations = payment.confirmations + 1;
  if (brandOf(payment).behaviour === 'qr') {
    reportBankStatus(simulator, payment, 'ACSC');
  } else if (payment.status === 'confirming' && confirmations < CONFIRMATIONS) {
    applyChange(simulator, payment, ['confirming'], confirming(confirmations));
  } else {
    applyChange(simulator, payment, [payment.status], { status: landed(payment) });
  }
}

const confirming = (confirmations: number): Change => ({
  status: 'confirming',
  confirmations,
  dueAt: Date.now() + CONFIRMATION_MS,
});

/** An instant payment has no news of its own: it is asked about, or its bank speaks. */
function writePaymentNotification({ notifications }: Simulator, payment: Payment): void {
  if (brandOf(payment).behaviour === 'qr') return;
  const { reason, method, confirmations, status } = payment;
  notifications.write(payment, {
    type: 'payment',
    status: wireStatusOf(payment),
    ...(reason !== null && { reason }),
    ...(method !== null && { method }),
    ...(status === 'confirming' && { confirmations }),
  });
}

/** The one door: a change, the money that moves with it and the news of it, all or nothing. */
function applyChange(
  simulator: Simulator,
  { reference }: Payment,
  from: readonly Status[],
  change: Change,
  writeNotification: (payment: Payment) => void = (payment) => writePaymentNotification(simulator, payment),
): boolean {
  const changed = simulator.ledger.transaction(() => {
    if (!simulator.ledger.move(reference, from, change)) return undefined;
    const payment = simulator.ledger.payment(reference) as Payment;
    if (change.status === 'settled') moveMoney(simulator, payment);
    writeNotification(payment);
    return payment;
  });
  if (!changed) return false;
  scheduleProgress(simulator, changed);
  simulator.notifications.send(reference);
  return true;
}

/** The payer decides, once; some cards decide for them. */
export function decide(simulator: Simulator, payment: Payment, choice: 'approve' | 'decline', method?: string): void {
  const { behaviour, scene } = brandOf(payment);
  const { page } = cardRowOf(simulator, payment);
  const decision = page ?? choice;
  if (behaviour === 'qr') {
    if (isWaiting(payment)) reportBankStatus(simulator, payment, decision === 'approve' ? 'ACSC' : 'RJCT');
  } else if (decision === 'decline') {
    const reason = page ? DECLINED_BY_BANK : 'The payer declined the payment.';
    applyChange(simulator, payment, WAITING, { status: 'declined', reason });
  } else {
    const isCoin = scene === 'crypto' && payment.status === 'redirect';
    applyChange(simulator, payment, WAITING, isCoin ? confirming(0) : { status: landed(payment), method });
  }
}

/** What the provider may be told to say, and after what: late truth is truth, but money that moved has moved. */
const PROVIDER_STATUSES_BY_NAME = {
  executed: { change: { status: 'settled' }, from: [...OPEN, 'authorised', 'declined'] },
  rejected: { change: { status: 'declined', reason: DECLINED }, from: [...OPEN, 'authorised'] },
  pending: { change: { status: 'pending' }, from: [...OPEN, 'declined'] },
} as const satisfies Record<string, { change: Change; from: readonly Status[] }>;

export type ProviderStatus = keyof typeof PROVIDER_STATUSES_BY_NAME;
export const isProviderStatus = (value: unknown): value is ProviderStatus =>
  typeof value === 'string' && Object.hasOwn(PROVIDER_STATUSES_BY_NAME, value);

/** Changes the payment as it is told; what is so already is only told again. */
function report(
  simulator: Simulator,
  payment: Payment,
  status: ProviderStatus | undefined,
  writeNotification: (payment: Payment) => void,
): void {
  if (status === undefined || payment.status === PROVIDER_STATUSES_BY_NAME[status].change.status) {
    simulator.ledger.transaction(() => writeNotification(payment));
    simulator.notifications.send(payment.reference);
    return;
  }
  const { change, from } = PROVIDER_STATUSES_BY_NAME[status];
  if (!applyChange(simulator, payment, from, change, writeNotification)) {
    throw new Refused(`A payment that is ${wireStatusOf(payment)} cannot become ${status}.`);
  }
}

export const reportStatus = (simulator: Simulator, payment: Payment, status: ProviderStatus): void =>
  report(simulator, payment, status, (changed) => writePaymentNotification(simulator, changed));

const BANK_CODES: Readonly<Record<string, ProviderStatus>> = { ACSC: 'executed', ACCC: 'executed', RJCT: 'rejected' };

export function reportBankStatus(simulator: Simulator, payment: Payment, code: string): void {
  const status = Object.hasOwn(BANK_CODES, code) ? BANK_CODES[code] : undefined;
  report(simulator, payment, status, (changed) =>
    simulator.notifications.write(changed, { type: 'bank_status', code }),
  );
}

export const canBeChargedBack = ({ ledger }: Simulator, { reference, status }: Payment): boolean =>
  status === 'settled' && ledger.balance(reference) > 0n;

/** The payer's bank takes back what is left of the payment. */
export function chargeBack(simulator: Simulator, payment: Payment): void {
  const { ledger, notifications } = simulator;
  if (!canBeChargedBack(simulator, payment)) throw new Refused('There is no money that could be charged back.');
  const { reference, currency } = payment;
  ledger.transaction(() => {
    const amount = String(ledger.balance(reference));
    ledger.addMovement({ reference, operation: '', kind: 'chargeback', direction: 'out', amount, currency });
    notifications.write({ ...payment, amount }, { type: 'chargeback' });
  });
  notifications.send(reference);
}
