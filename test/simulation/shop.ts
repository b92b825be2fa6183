/** The merchant of a run: scripts of requests, which are repeated, race each other, and get lost with their process. */
import { findAccount } from '../../src/core/accounts/accounts.ts';
import type { Account, Gateway } from '../../src/core/context.ts';
import { capture, refund, voidPayment } from '../../src/core/payments/change.ts';
import { findPayment, findStatus, findStatusByOrder } from '../../src/core/payments/find.ts';
import { type Order, openPayment } from '../../src/core/payments/open.ts';
import { recur, retry } from '../../src/core/schedules/recur.ts';
import { createSchedule, deleteSchedule, existingSchedule } from '../../src/core/schedules/schedules.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { Overloaded } from '../../src/lib/flow/batch.ts';
import { Outage } from '../../src/lib/flow/faults.ts';
import { Refusal } from '../../src/rules/errors.ts';
import type { Payment, PaymentWithDetails } from '../../src/store/payments/payments.ts';
import type { Installation } from './installation.ts';
import type { Processes } from './processes.ts';
import type { Scheduler } from './scheduler.ts';

/** A state that the gateway named in an answer. */
export interface Answer {
  paymentId: string;
  state: Payment['state'];
}

export interface Shop {
  /** Runs some scripts at the same time; resolves when all have ended. */
  open(): Promise<void>;
  answers: readonly Answer[];
  /** Requests that failed in another way than by a refusal. */
  failures: readonly string[];
  /** How many charges each schedule has to make, by the order that started it. */
  schedules: ReadonlyMap<string, number>;
}

type Action<Result> = (gateway: Gateway, account: Account) => Promise<Result>;

const SECOND = 1000;
const MINUTE = 60 * SECOND;

export function createShop(seed: number, scheduler: Scheduler, processes: Processes, { mid }: Installation): Shop {
  const { chance, sleep } = scheduler;
  const answers: Answer[] = [];
  const failures: string[] = [];
  const schedules = new Map<string, number>();
  let orders = 0;

  /** Sends a request to some process; undefined if it was refused, or its answer was lost. */
  async function request<Result>(label: string, act: Action<Result>): Promise<Result | undefined> {
    while (processes.living('web').length === 0) await sleep(SECOND);
    try {
      return await processes.call(chance.of(processes.living('web')), label, async (gateway) => {
        const account = await findAccount(gateway, mid);
        if (!account) throw new Error('There is no account.');
        return act(gateway, account);
      });
    } catch (error) {
      const isExpected = error instanceof Refusal || error instanceof Outage || error instanceof Overloaded;
      scheduler.note(`${label}: ${error instanceof Refusal ? error.name : String(error)}`);
      if (!isExpected) failures.push(`${label}: ${error instanceof Error ? error.stack : String(error)}`);
      return undefined;
    }
  }

  /** Sends a request once or, because its answer is lost or late, several times. */
  async function insist<Result>(label: string, act: Action<Result>): Promise<Result | undefined> {
    const repeat = async (ms: number): Promise<Result | undefined> => {
      await sleep(ms);
      return request(`${label} again`, act);
    };
    const first = request(label, act);
    if (chance.oneIn(0.3)) return (await Promise.all([first, repeat(chance.between(0, 3 * SECOND))])).find(Boolean);
    const result = await first;
    return result ?? (chance.oneIn(0.7) ? repeat(chance.between(0, 40 * SECOND)) : undefined);
  }

  const told = <Told extends Answer>(answer: Told | undefined): Told | undefined => {
    if (answer) answers.push({ paymentId: answer.paymentId, state: answer.state });
    return answer;
  };

  const newOrder = (brand: string, changes: Partial<Order> = {}): Order => {
    const orderId = `${seed}-${++orders}`;
    const details = { description: 'A simulated order', returnUrl: 'https://shop.example/', payer: {} };
    return {
      ...{ protocol: 's2s', brand, orderId, amountText: '10.00', currency: 'EUR' },
      ...{ isAuthorisation: false, isRecurringInit: false, details, content: orderId },
      ...changes,
    };
  };

  const pay = async (order: Order): Promise<PaymentWithDetails | undefined> =>
    told(await insist(`sale ${order.orderId}`, (gateway, account) => openPayment(gateway, account, order)));

  const change = async (
    label: string,
    { paymentId }: Answer,
    act: (
      gateway: Gateway,
      account: Account,
      payment: PaymentWithDetails,
      operationId: string,
    ) => Promise<{
      payment: PaymentWithDetails;
    }>,
  ): Promise<void> => {
    const operationId = newId();
    const result = await insist(label, async (gateway, account) => {
      const payment = await findPayment(gateway, account, paymentId);
      if (!payment) throw new Error(`The payment of a ${label} is not found.`);
      return act(gateway, account, payment, operationId);
    });
    told(result?.payment);
  };

  const refundPart = (payment: Answer, amount: string): Promise<void> =>
    change('refund', payment, (gateway, account, found, id) =>
      refund(gateway, account, found, amount, 'merchant', 'refundOrReversal', id),
    );
  const capturePart = (payment: Answer, amount: string): Promise<void> =>
    change('capture', payment, (gateway, account, found, id) =>
      capture(gateway, account, found, amount, 'merchant', id),
    );
  const cancel = (payment: Answer): Promise<void> =>
    change('void', payment, (gateway, _account, found, id) => voidPayment(gateway, found, 'merchant', id));

  async function askStatus({ paymentId }: Answer): Promise<void> {
    await sleep(chance.between(0, 2 * MINUTE));
    told(await request('status', (gateway, account) => findStatus(gateway, account, paymentId)));
  }

  /** An order that is paid again with the same number: after a decline, and by mistake. */
  async function sale(): Promise<void> {
    const order = newOrder(chance.of(['vcard', 'pin-a']));
    const payment = await pay(order);
    if (chance.oneIn(0.4)) {
      await sleep(chance.between(0, MINUTE));
      await pay({ ...order, content: 'another request' });
    }
    const amounts = ['', '4.00', '7.00', '10.00'];
    if (payment && chance.oneIn(0.7)) {
      const refunds = Array.from({ length: chance.upTo(3) }, () => refundPart(payment, chance.of(amounts)));
      await Promise.all([...refunds, askStatus(payment)]);
    }
  }

  async function authorisation(): Promise<void> {
    const payment = await pay(newOrder(chance.of(['vcard', 'pin-a']), { isAuthorisation: true }));
    if (!payment) return;
    await sleep(chance.of([0, 0, 10 * SECOND, 7 * 24 * 60 * MINUTE]));
    const steps = [
      () => capturePart(payment, chance.of(['', '6.00', '6.00', '10.00'])),
      () => capturePart(payment, ''),
      () => cancel(payment),
      () => refundPart(payment, ''),
      () => askStatus(payment),
    ];
    await Promise.all(Array.from({ length: chance.upTo(3) }, () => chance.of(steps)()));
    if (chance.oneIn(0.3)) await refundPart(payment, chance.of(['', '3.00']));
  }

  async function redirect(): Promise<void> {
    const order = newOrder('hosted-b', { isAuthorisation: chance.oneIn(0.2) });
    const payment = await pay(order);
    if (payment) await askStatus(payment);
    await sleep(chance.of([MINUTE, 61 * MINUTE]));
    const find: Action<Answer | undefined> = (gateway, account) => findStatusByOrder(gateway, account, order.orderId);
    const found = told(await request('status by order', find));
    if (found && chance.oneIn(0.5)) await refundPart(found, '');
  }

  async function repetitions(): Promise<void> {
    const first = await pay(newOrder('vcard', { isRecurringInit: true }));
    if (!first || first.recurringToken === null) return;
    const again = async (): Promise<void> => {
      const { paymentId: firstId, recurringToken: token } = first;
      const { orderId, amountText, content, isAuthorisation } = newOrder('vcard');
      const order = { orderId, amountText, content, isAuthorisation, firstId, token: token as string };
      const rest = { amountField: 'amount', currency: '', description: 'Again', scheduleId: '' };
      const repeated = told(
        await insist(`recurring ${orderId}`, (gateway, account) => recur(gateway, account, { ...order, ...rest })),
      );
      if (repeated?.state !== 'DECLINED') return;
      told(await insist(`retry ${orderId}`, (gateway, account) => retry(gateway, account, repeated.paymentId)));
    };
    await Promise.all(Array.from({ length: chance.upTo(2) }, again));
  }

  async function subscription(): Promise<void> {
    const days = { name: 'Daily', intervalLength: 1, intervalUnit: 'day', dayOfMonth: null, delays: 0 } as const;
    const paymentsCount = chance.upTo(2);
    const scheduleId = newId();
    await insist('schedule', (gateway, account) =>
      createSchedule(gateway, account, { ...days, paymentsCount }, scheduleId),
    );
    const order = newOrder('vcard', { isRecurringInit: true });
    const open: Action<PaymentWithDetails> = async (gateway, account) =>
      openPayment(gateway, account, { ...order, schedule: await existingSchedule(gateway, account, scheduleId) });
    const first = told(await insist(`sale ${order.orderId} with a schedule`, open));
    if (!first) return;
    if (chance.oneIn(0.2)) {
      await sleep(chance.between(0, 2 * 24 * 60 * MINUTE));
      await request('end of the schedule', (gateway, account) => deleteSchedule(gateway, account, scheduleId));
    } else schedules.set(order.orderId, paymentsCount);
  }

  return {
    answers,
    failures,
    schedules,
    async open() {
      const scripts = [sale, sale, authorisation, authorisation, redirect, repetitions, subscription];
      const begin = async (): Promise<void> => {
        await sleep(chance.between(0, 5 * SECOND));
        await chance.of(scripts)();
      };
      await Promise.all(Array.from({ length: chance.of([1, 1, 2]) }, begin));
    },
  };
}
