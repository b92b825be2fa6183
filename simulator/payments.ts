/** The payments of the simulator: submission, decisions of payers, bank statuses, confirmations. */
import { newSecret } from '../src/lib/crypto/id.ts';
import { clabe, cvu, digitsOf } from './accounts.ts';
import type { AuthenticationValueOf } from './authentication-value.ts';
import { type Behaviour, brandOf, DECLINED, DECLINED_PAYER } from './brands.ts';
import {
  bankRefusal,
  type CardBehaviour,
  cardBehaviour,
  cardProblem,
  DECLINED_BY_BANK,
  formatExpiry,
  maskCard,
  WANTS_AUTHENTICATION,
} from './cards.ts';
import type { CallMode } from './faults.ts';
import { ipsQr } from './ips-qr.ts';
import type { Change, DeclineCodes, Ledger, Payment, Status } from './ledger.ts';
import type { NotificationSender } from './notifications.ts';
import type { SubmittedPayment } from './payment-request.ts';
import type { Timers } from './timers.ts';

/** The dependencies of all routes. */
export interface Simulator {
  ledger: Ledger;
  notifications: NotificationSender;
  timers: Timers;
  authenticationValueOf: AuthenticationValueOf;
  /** The address of a path as the payer's browser sees it. */
  link(path: string): string;
}

/** An action that the state of the payment does not allow. */
export class Conflict extends Error {
  readonly statusCode = 409;
}

const INITIAL_STATUSES: Readonly<Record<Behaviour, Status>> = {
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

/** The statuses that wait for the payer. */
const WAITING: readonly Status[] = ['redirect', 'pending'];
const OPEN: readonly Status[] = [...WAITING, 'confirming', 'sending'];

/** The status of a successful payment. */
const successStatus = (payment: Pick<Payment, 'capture' | 'direction'>): Status =>
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

/** The instructions for a transfer. */
export const instructionsOf = ({ reference, brand, merchant }: Payment) => ({
  account_number: brand === 'transfer-b' ? clabe(reference) : cvu(reference),
  account_holder: merchant || 'Sandbox',
  reference: digitsOf(reference, 7),
});

export const qrOf = ({ amount, currency, reference, description, merchant }: Payment): string =>
  ipsQr({ amount, currency, reference, description, payee: merchant });

/** The payment as the provider API returns it. */
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
    ...(status === 'declined' && declineOf(simulator, payment)),
    // ISO 8583: the payer has to be authenticated.
    ...(reason === WANTS_AUTHENTICATION && { code: '1A' }),
    ...(method !== null && { method }),
    ...(status === 'redirect' && { redirect: { url: simulator.link(`/pay/${token}`), method: 'GET', params: {} } }),
    ...(status === 'pending' && behaviour === 'qr' && { qr: qrOf(payment) }),
    ...(status === 'pending' && behaviour === 'transfer' && { instructions: instructionsOf(payment) }),
  };
}

/** The codes of a decline, if the provider tells any. */
function declineOf({ ledger }: Simulator, { reference }: Payment): Partial<DeclineCodes> {
  const { code, advice } = ledger.decline(reference) ?? {};
  return { ...(code && { code }), ...(advice && { advice }) };
}

function declineReason(submitted: SubmittedPayment): string | undefined {
  if (submitted.identifier === DECLINED_PAYER || submitted.email === DECLINED_PAYER) return DECLINED;
  if (submitted.card) return cardProblem(submitted.card, Date.now()) ?? bankRefusal(submitted.card);
  const rule = brandOf(submitted).declines;
  const value = rule && submitted.parameters[rule.parameter];
  return typeof value === 'string' && rule?.pattern.test(value) ? rule.reason : undefined;
}

/** The connection fault that the test card of this payment selects, if any. */
export const connectionFaultOf = (submitted: SubmittedPayment): CardBehaviour['connectionFault'] =>
  submitted.card && declineReason(submitted) === undefined
    ? cardBehaviour(formatExpiry(submitted.card)).connectionFault
    : undefined;

/** The behaviour that the test card of this payment selects. */
export function cardBehaviourOf({ ledger }: Simulator, { reference }: Pick<Payment, 'reference'>): CardBehaviour {
  const card = ledger.card(reference);
  return card ? cardBehaviour(card.expiry) : {};
}

/** Stores the masked card. An invalid card is not stored, because its parts may contain anything. */
function storeCard({ ledger }: Simulator, { reference, card }: SubmittedPayment): void {
  if (!card || cardProblem(card, Date.now()) !== undefined) return;
  ledger.addCard({ reference, ...maskCard(card.number, formatExpiry(card)) });
}

function initialStatus({ brand, direction, card }: SubmittedPayment): Status {
  const isRedirected =
    card !== null && direction === 'in' && cardBehaviour(formatExpiry(card)).pageDecision !== undefined;
  return isRedirected ? 'redirect' : INITIAL_STATUSES[brandOf({ brand, direction }).behaviour];
}

/** Accepts a payment; a repeat returns the stored payment. A late success is declined now and settles after a delay. */
export function submit(
  simulator: Simulator,
  submitted: SubmittedPayment,
  fault: CallMode | undefined,
  codes?: DeclineCodes,
): Payment {
  const isLateSuccess = fault === 'late_success';
  const { identifier: _identifier, email: _email, parameters: _parameters, card: _card, ...stored } = submitted;
  const reason = isLateSuccess || codes || fault === 'soft_decline' ? DECLINED : declineReason(submitted);
  const initial = initialStatus(submitted);
  const status = reason !== undefined ? 'declined' : initial === 'settled' ? successStatus(submitted) : initial;
  const createdAt = Date.now();
  const waitMs = isLateSuccess ? LATE_MS : status === 'sending' ? PAYOUT_MS : undefined;
  const payment: Payment = {
    ...stored,
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
    storeCard(simulator, submitted);
    if (codes) simulator.ledger.addDecline(submitted.reference, codes);
    if (status === 'settled') moveMoney(simulator, payment);
    return true;
  });
  if (isNew) scheduleProgress(simulator, payment);
  return simulator.ledger.payment(submitted.reference) as Payment;
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

/** The next automatic step of a payment, when it is due. */
function progress(simulator: Simulator, reference: string): void {
  const payment = simulator.ledger.payment(reference);
  if (!payment || payment.dueAt === null || payment.dueAt > Date.now()) return;
  const confirmations = payment.confirmations + 1;
  if (brandOf(payment).behaviour === 'qr') {
    reportBankStatus(simulator, payment, 'ACSC');
  } else if (payment.status === 'confirming' && confirmations < CONFIRMATIONS) {
    changePayment(simulator, payment, ['confirming'], confirmingChange(confirmations));
  } else {
    changePayment(simulator, payment, [payment.status], { status: successStatus(payment) });
  }
}

const confirmingChange = (confirmations: number): Change => ({
  status: 'confirming',
  confirmations,
  dueAt: Date.now() + CONFIRMATION_MS,
});

/** Instant payments (`qr`) have no payment notification: the gateway queries them, or the bank reports a status. */
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

/** Changes a payment, moves its money and writes the notification, in one transaction. */
function changePayment(
  simulator: Simulator,
  { reference }: Payment,
  from: readonly Status[],
  change: Change,
  writeNotification: (payment: Payment) => void = (payment) => writePaymentNotification(simulator, payment),
): boolean {
  const changed = simulator.ledger.transaction(() => {
    if (!simulator.ledger.changeStatus(reference, from, change)) return undefined;
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

/** Applies the payer's decision, once; some test cards override it. */
export function decide(simulator: Simulator, payment: Payment, choice: 'approve' | 'decline', method?: string): void {
  const { behaviour, pageType } = brandOf(payment);
  const { pageDecision } = cardBehaviourOf(simulator, payment);
  const decision = pageDecision ?? choice;
  if (behaviour === 'qr') {
    if (isWaiting(payment)) reportBankStatus(simulator, payment, decision === 'approve' ? 'ACSC' : 'RJCT');
  } else if (decision === 'decline') {
    const reason = pageDecision ? DECLINED_BY_BANK : 'The payer declined the payment.';
    changePayment(simulator, payment, WAITING, { status: 'declined', reason });
  } else {
    const isCoin = pageType === 'crypto' && payment.status === 'redirect';
    changePayment(
      simulator,
      payment,
      WAITING,
      isCoin ? confirmingChange(0) : { status: successStatus(payment), method },
    );
  }
}

/** The statuses that a scenario can report, and in which state. A declined payment may still settle; a settled one cannot change. */
const SCENARIO_STATUSES = {
  executed: { change: { status: 'settled' }, from: [...OPEN, 'authorised', 'declined'] },
  rejected: { change: { status: 'declined', reason: DECLINED }, from: [...OPEN, 'authorised'] },
  pending: { change: { status: 'pending' }, from: [...OPEN, 'declined'] },
} as const satisfies Record<string, { change: Change; from: readonly Status[] }>;

export type ProviderStatus = keyof typeof SCENARIO_STATUSES;
export const isProviderStatus = (value: unknown): value is ProviderStatus =>
  typeof value === 'string' && Object.hasOwn(SCENARIO_STATUSES, value);

/** Reports a status. If the payment already has it, only the notification is sent. */
function reportOutcome(
  simulator: Simulator,
  payment: Payment,
  status: ProviderStatus | undefined,
  writeNotification: (payment: Payment) => void,
): void {
  if (status === undefined || payment.status === SCENARIO_STATUSES[status].change.status) {
    simulator.ledger.transaction(() => writeNotification(payment));
    simulator.notifications.send(payment.reference);
    return;
  }
  const { change, from } = SCENARIO_STATUSES[status];
  if (!changePayment(simulator, payment, from, change, writeNotification)) {
    throw new Conflict(`A payment that is ${wireStatusOf(payment)} cannot become ${status}.`);
  }
}

export const reportStatus = (simulator: Simulator, payment: Payment, status: ProviderStatus): void =>
  reportOutcome(simulator, payment, status, (changed) => writePaymentNotification(simulator, changed));

const BANK_CODES: Readonly<Record<string, ProviderStatus>> = { ACSC: 'executed', ACCC: 'executed', RJCT: 'rejected' };

export function reportBankStatus(simulator: Simulator, payment: Payment, code: string): void {
  const status = Object.hasOwn(BANK_CODES, code) ? BANK_CODES[code] : undefined;
  reportOutcome(simulator, payment, status, (changed) =>
    simulator.notifications.write(changed, { type: 'bank_status', code }),
  );
}
