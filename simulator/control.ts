/** The control API for the gateway's sandbox calls: scenarios, faults and the ledger. */
import type { FastifyInstance } from 'fastify';
import { isUtcMoment } from '../src/lib/text/identifiers.ts';
import { isObject, isText } from '../src/lib/text/json.ts';
import { CHARGEBACK_KINDS, type ChargebackDetails, chargeBack } from './chargebacks.ts';
import { declineCodes, MODES, SUBMIT_MODES } from './faults.ts';
import type { ChargebackKind, Payment } from './ledger.ts';
import type { Subject } from './notifications.ts';
import { BadRequest, isAmount, isCurrency, isLink, isName, required } from './payment-request.ts';
import {
  Conflict,
  isProviderStatus,
  LATE_MS,
  paymentResponse,
  reportBankStatus,
  reportStatus,
  type Simulator,
} from './payments.ts';

const LEDGER_PAGE = 1000;
const FAULTS_MOST = 1_000_000;

const isBankCode = (value: unknown): value is string => typeof value === 'string' && /^\w{1,35}$/.test(value);
const isMoment = (value: unknown): value is string => typeof value === 'string' && isUtcMoment(value);
const isCode = (value: unknown): value is string => typeof value === 'string' && /^\w{1,20}$/.test(value);
const isMode = (value: unknown): value is (typeof MODES)[number] | 'none' =>
  value === 'none' || MODES.some((mode) => mode === value);
const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) > 0 && (value as number) <= FAULTS_MOST;

interface Reference {
  Params: { reference: string };
}

export function controlRoutes(app: FastifyInstance, simulator: Simulator): void {
  const { ledger, notifications } = simulator;

  app.get<Reference>('/payments/:reference', async ({ params: { reference } }, reply) => {
    const payment = ledger.payment(reference);
    return payment ? paymentDetails(simulator, payment) : reply.code(404).send(UNKNOWN_PAYMENT);
  });

  app.post<Reference>('/payments/:reference', async (request, reply) => {
    const { reference } = request.params;
    const body = required(request.body, isObject, 'The body');
    const payment = ledger.payment(reference);
    if (payment) runScenario(simulator, payment, body);
    else if (body.unknown !== undefined) notifyUnknownPayment(simulator, reference, body);
    else return reply.code(404).send(UNKNOWN_PAYMENT);
    await notifications.send(reference);
    const after = ledger.payment(reference);
    return after
      ? paymentDetails(simulator, after)
      : { reference, notifications: notificationsOf(simulator, reference) };
  });

  app.get('/faults', async () => ({ faults: ledger.faults() }));

  app.post('/faults', async ({ body: sent }) => {
    const body = required(sent, isObject, 'The body');
    const mode = required(body.mode, isMode, 'mode');
    const mid = nameOrNull(body.mid, 'mid');
    const brand = nameOrNull(body.brand, 'brand');
    if (mode === 'none') ledger.deleteFaults(mid, brand);
    else {
      const left = required(body.count ?? 1, isCount, 'count');
      ledger.addFault({
        mid,
        brand,
        mode,
        left,
        code: codeOrNull(body.code, 'code'),
        advice: codeOrNull(body.advice, 'advice'),
      });
    }
    return { faults: ledger.faults() };
  });

  app.post('/faults/take', async ({ body: sent }) => {
    const body = required(sent, isObject, 'The body');
    const subject = readSubject(required(body.reference, isName, 'reference'), body);
    const taken = ledger.transaction(() => {
      const fault = ledger.takeFault(SUBMIT_MODES, subject);
      if (fault?.mode === 'late_success') {
        notifications.write(subject, { type: 'payment', status: 'settled' }, Date.now() + LATE_MS);
      }
      return fault;
    });
    notifications.send(subject.reference);
    // Counts the faults of all accounts: while there are any, the connector has to ask again.
    return { mode: taken?.mode ?? null, ...(taken && declineCodes(taken)), left: ledger.faultsLeft(SUBMIT_MODES) };
  });

  app.get<{ Querystring: { after?: string } }>('/ledger', async ({ query: { after = '0' } }) => {
    if (!/^\d{1,15}$/.test(after)) throw new BadRequest('after is not valid.');
    const items = ledger.movementsAfter(Number(after), LEDGER_PAGE);
    return { items, next: items.length === LEDGER_PAGE ? items.at(-1)?.id : null };
  });
}

const UNKNOWN_PAYMENT = { error: 'There is no payment of this reference.' };

const codeOrNull = (value: unknown, name: string): string | null =>
  value === undefined || value === null ? null : required(value, isCode, name);

const nameOrNull = (value: unknown, name: string): string | null =>
  value === undefined || value === null ? null : required(value, isName, name);

/** `true`, or an object with the amount, the time until which the bank takes an answer, and the reason. */
function chargebackDetails(kind: ChargebackKind, value: unknown): ChargebackDetails {
  if (value === true) return {};
  const { amount, respond_by, reason } = required(value, isObject, kind);
  return {
    ...(amount !== undefined && { amount: required(amount, isAmount, 'amount') }),
    ...(respond_by !== undefined && { respond_by: respond_by && required(respond_by, isMoment, 'respond_by') }),
    ...(reason !== undefined && { reason: required(reason, isReason, 'reason') }),
  } as ChargebackDetails;
}

const isReason = (value: unknown): value is string => isText(value, 255);

const SCENARIOS = ['provider_status', 'bank_callback', ...CHARGEBACK_KINDS] as const;

/** Runs exactly one scenario. */
function runScenario(simulator: Simulator, payment: Payment, body: Record<string, unknown>): void {
  const scenarios = SCENARIOS.filter((name) => body[name] !== undefined);
  const [scenario] = scenarios;
  if (scenario === undefined || scenarios.length > 1) throw new BadRequest(`One of ${SCENARIOS.join(', ')} is needed.`);
  if (scenario === 'provider_status') {
    reportStatus(simulator, payment, required(body.provider_status, isProviderStatus, 'provider_status'));
  } else if (scenario === 'bank_callback') {
    reportBankStatus(simulator, payment, required(body.bank_callback, isBankCode, 'bank_callback'));
  } else {
    chargeBack(simulator, payment, scenario, chargebackDetails(scenario, body[scenario]));
  }
}

function readSubject(reference: string, body: Record<string, unknown>): Subject {
  return {
    reference,
    mid: nameOrNull(body.mid, 'mid'),
    brand: nameOrNull(body.brand, 'brand'),
    amount: required(body.amount, isAmount, 'amount'),
    currency: required(body.currency, isCurrency, 'currency'),
    notifyUrl: required(body.notify_url, isLink, 'notify_url'),
  };
}

/** Sends a chargeback notification for a payment that the simulator does not have. */
function notifyUnknownPayment(
  { ledger, notifications }: Simulator,
  reference: string,
  body: Record<string, unknown>,
): void {
  const kind = CHARGEBACK_KINDS.find((one) => body[one] !== undefined);
  if (!kind) throw new Conflict('Without a simulated provider only a chargeback can be told.');
  const { amount, ...details } = chargebackDetails(kind, body[kind]);
  const subject = readSubject(required(reference, isName, 'reference'), required(body.unknown, isObject, 'unknown'));
  const about = { ...subject, ...(amount !== undefined && { amount }) };
  ledger.transaction(() => notifications.write(about, { type: kind, ...details }));
}

const notificationsOf = ({ ledger }: Simulator, reference: string) =>
  ledger.notificationsOf(reference).map(({ event, body, tries, deliveredAt }) => ({
    id: event,
    ...JSON.parse(body),
    tries,
    delivered: deliveredAt !== null,
  }));

/** Everything the simulator knows about a payment. */
function paymentDetails(simulator: Simulator, payment: Payment) {
  const { reference, brand, mid, direction, description, token, createdAt } = payment;
  const card = simulator.ledger.card(reference);
  return {
    ...paymentResponse(simulator, payment),
    brand,
    mid,
    direction,
    description,
    capture: payment.capture === 1,
    ...(card && { card }),
    payer_page: simulator.link(`/pay/${token}`),
    created_at: createdAt,
    operations: simulator.ledger.operationsOf(reference),
    movements: simulator.ledger.movementsOf(reference),
    notifications: notificationsOf(simulator, reference),
  };
}
