/** The commands `payment …`: payments and operations on them over the admin API. */
import { newId } from '../lib/crypto/id.ts';
import { UnreachableError } from '../lib/flow/startup-error.ts';
import { connectAdmin } from './admin-client.ts';
import type { Call } from './command.ts';
import { columns, members } from './output.ts';
import { paymentIdOf } from './payment-id.ts';

interface Payment {
  payment_id: string;
  mid: string;
  order_id: string;
  status: string;
  brand: string;
  amount: string;
  currency: string;
  created_at: string;
}

interface Event {
  seq: number;
  at: string;
  event: string;
  from: string | null;
  to: string;
  actor: string;
}

interface Operation {
  operation_id: string;
  operation: string;
  state: string;
  amount: string;
  reason: string | null;
}

const pathOf = (paymentId: string, action = ''): string =>
  `/admin/api/payments/${encodeURIComponent(paymentId)}${action}`;

export async function listPayments(call: Call): Promise<undefined> {
  const admin = await connectAdmin(call);
  const query = new URLSearchParams();
  for (const { name } of call.command.options ?? []) {
    const value = name === 'url' || name === 'profile' ? undefined : call.option(name);
    if (value !== undefined) query.set(name === 'search' ? 'q' : name.replaceAll('-', '_'), value);
  }
  const page = await admin.request<{ items: Payment[]; next_cursor: string | null }>(
    'GET',
    `/admin/api/payments?${query}`,
  );
  call.output.result(page, () =>
    page.items.length === 0
      ? 'There are no such payments.'
      : columns(
          page.items.map(({ payment_id, created_at, order_id, brand, amount, currency, status }) => {
            return [payment_id, created_at, order_id, brand, `${amount} ${currency}`, status];
          }),
        ),
  );
  if (page.next_cursor !== null && !call.output.isJson)
    call.output.note(`There are more: --cursor ${page.next_cursor}`);
}

export async function showPayment(call: Call): Promise<undefined> {
  const admin = await connectAdmin(call);
  const payment = await admin.request<Payment & { history: Event[]; operations: Operation[] }>(
    'GET',
    pathOf(await paymentIdOf(admin, call)),
  );
  call.output.result(payment, () => {
    const { history, operations, ...rest } = payment;
    const isShort = ([, value]: [string, unknown]) => value !== null && typeof value !== 'object';
    return [
      members(Object.fromEntries(Object.entries(rest).filter(isShort))),
      `History\n${columns(history.map(({ seq, at, event, to, actor }) => [`  ${seq}`, at, event, to, actor]))}`,
      ...(operations.length === 0
        ? []
        : [`Operations\n${columns(operations.map((row) => [`  ${row.operation_id}`, ...operationFacts(row)]))}`]),
    ].join('\n\n');
  });
}

const operationFacts = ({ operation, amount, state, reason }: Operation) => [operation, amount, state, reason];

/** The id makes the request repeatable: a second request with the same id does nothing more. */
async function operate(call: Call, action: 'capture' | 'void' | 'refund'): Promise<number | undefined> {
  const admin = await connectAdmin(call);
  const paymentId = await paymentIdOf(admin, call);
  const operationId = call.option('operation-id') ?? newId();
  const amount = call.option('amount');
  const answer = await admin
    .request<Payment & { operation: Operation | null; refund_request?: { request_id: string } }>(
      'POST',
      pathOf(paymentId, `/${action}`),
      {
        operation_id: operationId,
        ...(amount !== undefined && { amount }),
      },
    )
    .catch((error: unknown) => {
      if (!(error instanceof UnreachableError)) throw error;
      throw new UnreachableError(
        `${error.message} The ${action} may have been carried out: repeat the command with --operation-id ${operationId}, which cannot do it twice.`,
      );
    });
  const { operation, refund_request } = answer;
  if (operation === null) {
    call.output.result(answer, () => `The refund waits for a second person: request ${refund_request?.request_id}.`);
    return undefined;
  }
  call.output.result(answer, () => members({ payment_id: answer.payment_id, status: answer.status, ...operation }));
  return operation.state === 'declined' ? 1 : undefined;
}

export const capturePayment = (call: Call) => operate(call, 'capture');
export const voidPayment = (call: Call) => operate(call, 'void');
export const refundPayment = (call: Call) => operate(call, 'refund');
