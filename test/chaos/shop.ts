/** A merchant and its customers: they use all protocols, repeat what was not answered, and record every answer. */
import { setTimeout as pause } from 'node:timers/promises';
import { CHECKOUT_STATES } from '../../client/src/generated.ts';
import { ConnectionError, DuplicateError, StateError, Turnpike, UnavailableError } from '../../client/src/index.ts';
import type { TransportOptions } from '../../client/src/transport.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import type { Chance } from '../support/chance.ts';

export interface Account {
  mid: string;
  client_key: string;
  merchant_key: string;
  password: string;
  callback_secret: string;
}

/** What the shop knows about one payment. */
export interface KnownPayment {
  orderId: string;
  /** The states that the gateway answered, in the order of the answers. */
  states: string[];
}

/** An operation that the shop requested, and the answer: `unknown` if there was none. */
export interface KnownOperation {
  operationId: string;
  paymentId: string;
  answer: 'accepted' | 'refused' | 'unknown';
}

export interface Records {
  payments: Map<string, KnownPayment>;
  operations: KnownOperation[];
  /** How often each kind of request was answered, refused, or remained unknown: without an answer, or with 503. */
  counts: Map<string, number>;
  /** Answers that no fault explains. */
  wrong: string[];
}

export const newRecords = (): Records => ({ payments: new Map(), operations: [], counts: new Map(), wrong: [] });

const RETURN = 'https://shop.example/return';
/** How long the shop waits for an answer, and how often it repeats a request without one. */
export type Patience = TransportOptions;
const PATIENCE: Patience = { timeoutMs: 15_000, retries: 4, retryPauseMs: 200 };

export type Shop = ReturnType<typeof createShop>;

/** A client of the account. */
export const clientOf = (url: string, account: Account, patience: Partial<Patience>): Turnpike =>
  new Turnpike({
    url,
    clientKey: account.client_key,
    merchantKey: account.merchant_key,
    password: account.password,
    callbackSecret: account.callback_secret,
    ...patience,
  });

export function createShop(
  url: string,
  account: Account,
  name: string,
  { chance, records, patience = PATIENCE }: { chance: Chance; records: Records; patience?: Patience },
) {
  const turnpike = clientOf(url, account, patience);
  let orders = 0;
  const newOrder = (): string => `${name}-${++orders}`;
  const amount = (): string => `${chance.upTo(999)}.${String(chance.upTo(99)).padStart(2, '0')}`;

  /** What became of a request; a fault may cause a refusal, or that it is unknown. */
  async function outcomeOf<Result>(kind: string, request: Promise<Result>): Promise<Result | 'refused' | 'unknown'> {
    const count = (outcome: string): void => {
      const key = `${kind} ${outcome}`;
      records.counts.set(key, (records.counts.get(key) ?? 0) + 1);
    };
    try {
      const result = await request;
      count('answered');
      return result;
    } catch (error) {
      const isUnknown = error instanceof ConnectionError || error instanceof UnavailableError;
      count(error instanceof UnavailableError ? 'unavailable' : isUnknown ? 'unknown' : 'refused');
      // A repeat after the duplicate window is a duplicate; another operation may have been faster.
      const isExplained = isUnknown || error instanceof DuplicateError || error instanceof StateError;
      if (!isExplained) records.wrong.push(`${kind}: ${String(error)}`);
      return isUnknown ? 'unknown' : 'refused';
    }
  }

  /** The answer to a request, if there is one. */
  async function ask<Result extends object>(kind: string, request: Promise<Result>): Promise<Result | undefined> {
    const outcome = await outcomeOf(kind, request);
    return typeof outcome === 'object' ? outcome : undefined;
  }

  function note(paymentId: string, orderId: string, state: string): void {
    const known = records.payments.get(paymentId) ?? { orderId, states: [] };
    records.payments.set(paymentId, known);
    if (known.orderId !== orderId) records.wrong.push(`${paymentId} was answered for ${known.orderId} and ${orderId}`);
    if (known.states.at(-1) !== state) known.states.push(state);
  }

  async function visit(address: string, form?: Record<string, string>): Promise<string> {
    const init = form ? { method: 'POST', body: new URLSearchParams(form) } : {};
    const signal = AbortSignal.timeout(patience.timeoutMs);
    // A payer whose page does not load leaves.
    const response = await fetch(address, { redirect: 'manual', signal, ...init }).catch(() => undefined);
    await response?.arrayBuffer().catch(() => undefined);
    return response?.headers.get('location') ?? '';
  }

  async function sale(brand: string, fields: object = {}): Promise<string | undefined> {
    const order_id = newOrder();
    const complete = Object.entries(BRAND_EXPECTATIONS[brand]?.complete ?? {});
    const order = {
      ...{ order_id, order_amount: amount(), order_currency: 'USD', order_description: 'A test order' },
      ...{ payer_ip: '203.0.113.7', return_url: RETURN },
      ...Object.fromEntries(complete.filter(([field]) => !field.includes('['))),
      parameters: Object.fromEntries(
        complete.flatMap(([field, value]) => {
          const inner = /^parameters\[(\w+)\]$/.exec(field)?.[1];
          return inner === undefined ? [] : [[inner, value]];
        }),
      ),
    };
    const answer = await ask(`SALE ${brand}`, turnpike.s2s.sale<string>({ brand, ...order, ...fields }));
    if (!answer) return undefined;
    note(answer.trans_id, order_id, answer.status);
    if (answer.redirect_url) {
      const page = answer.redirect_url.startsWith(url) ? await visit(answer.redirect_url, {}) : answer.redirect_url;
      const decision = chance.of(['approve', 'approve', 'approve', 'decline', 'nothing']);
      const back = decision === 'nothing' || page === '' ? '' : await visit(page, { decision, method: 'S4' });
      if (back !== '' && chance.oneIn(0.7)) await visit(back);
    }
    return answer.trans_id;
  }

  /** A payment on the payment page; returns its id if the session was answered. */
  async function session(fields: object, form: Record<string, string>): Promise<string | undefined> {
    const number = newOrder();
    const order = { number, amount: amount(), currency: 'USD', description: 'A test order' };
    const opened = await ask('session', turnpike.checkout.session({ order, success_url: RETURN, ...fields }));
    if (!opened) return undefined;
    await visit(opened.redirect_url, form);
    if (chance.oneIn(0.3)) await visit(opened.redirect_url, form);
    return readOrder(number);
  }

  async function readOrder(number: string): Promise<string | undefined> {
    const found = await ask('status', turnpike.checkout.status({ order_id: number }));
    if (!found) return undefined;
    note(found.payment_id, number, CHECKOUT_STATES[found.status] ?? found.status);
    return found.payment_id;
  }

  const card = (expiry: string) => ({
    ...{ method: 'card', card_number: '4111111111111111', card_expiry: expiry, card_cvv: '123' },
    card_holder: 'Ada Byron',
  });

  async function readStatus(paymentId: string | undefined): Promise<string | undefined> {
    if (paymentId === undefined) return undefined;
    const answer = await ask('GET_TRANS_STATUS', turnpike.s2s.status({ trans_id: paymentId }));
    if (answer) note(paymentId, answer.order_id, answer.status);
    return answer?.status;
  }

  async function operate(
    kind: string,
    paymentId: string,
    request: (operationId: string) => Promise<object>,
  ): Promise<void> {
    const operationId = crypto.randomUUID();
    const outcome = await outcomeOf(kind, request(operationId));
    records.operations.push({ operationId, paymentId, answer: typeof outcome === 'object' ? 'accepted' : outcome });
  }

  const SCENARIOS: readonly (() => Promise<unknown>)[] = [
    async () => readStatus(await sale('vcard', { identifier: 'success@example.com' })),
    async () => readStatus(await sale('pin-a')),
    async () => readStatus(await sale('hosted-b')),
    async () => readStatus(await sale('upi-b', { order_currency: 'INR' })),
    async () => readStatus(await sale('payout-a')),
    async () => readStatus(await session({ methods: ['card'] }, card(chance.of(['01/38', '01/38', '02/38'])))),
    async () => {
      const id = await sale(chance.of(['pin-a', 'vcard']), { identifier: 'success@example.com' });
      if (id === undefined || (await readStatus(id)) !== 'SETTLED') return;
      await operate('CREDITVOID', id, (operation_id) =>
        turnpike.s2s.creditvoid({ trans_id: id, operation_id, ...(chance.oneIn(0.5) && { amount: '0.50' }) }),
      );
      await readStatus(id);
    },
    async () => {
      const id = await session({ methods: ['card'], auth: true }, card('01/38'));
      if (id === undefined || (await readStatus(id)) !== 'PENDING') return;
      if (chance.oneIn(0.7)) {
        await operate('capture', id, (operation_id) => turnpike.checkout.capture({ payment_id: id, operation_id }));
      } else {
        await operate('void', id, (operation_id) => turnpike.checkout.void({ payment_id: id, operation_id }));
      }
      await readStatus(id);
    },
    async () => {
      const id = await session({ methods: ['card'], recurring_init: true }, card('01/38'));
      if (id === undefined || (await readStatus(id)) !== 'SETTLED') return;
      const first = await ask('status', turnpike.checkout.status({ payment_id: id }));
      if (!first?.recurring_token) return;
      const order_id = newOrder();
      const repeated = await ask(
        'RECURRING_SALE',
        turnpike.s2s.recurringSale({
          ...{ order_id, order_amount: amount(), order_description: 'The next month' },
          ...{ recurring_first_trans_id: id, recurring_token: first.recurring_token },
        }),
      );
      if (repeated) note(repeated.trans_id, order_id, repeated.status);
    },
  ];

  return {
    turnpike,
    /** One sale; returns its id if it was answered. */
    buy: () => sale('vcard', { identifier: 'success@example.com' }),
    /** Buys until told to stop. */
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await chance.of(SCENARIOS)();
        await pause(chance.between(20, 200));
      }
    },
  };
}
