/** The commands `trigger …`: make something happen in a sandbox, such as a test payment, a chargeback or a later date. */
import { StartupError, UnreachableError } from '../lib/flow/startup-error.ts';
import { CURRENCIES } from '../rules/currencies.ts';
import { type AdminClient, causeOf, connectAdmin } from './admin-client.ts';
import { chooseAccount } from './choose-account.ts';
import type { Call } from './command.ts';
import { columns, members } from './output.ts';
import { secondsOf } from './parse.ts';
import { paymentIdOf } from './payment-id.ts';

type Answer = Record<string, unknown>;

const SALE_TIMEOUT_MS = 30_000;

/** A payment with the test brand, which needs no payer: signed, sent to `/post`, and settled or declined. */
export async function triggerSale(call: Call): Promise<number | undefined> {
  const admin = await connectAdmin(call);
  const account = await chooseAccount(admin, call.option('mid'));
  const currency = call.option('currency') ?? 'USD';
  const { exponent } = CURRENCIES[currency] ?? { exponent: 2 };
  const form = new URLSearchParams({
    action: 'SALE',
    client_key: account.client_key,
    brand: 'vcard',
    identifier: call.flag('decline') ? 'decline@example.com' : 'success@example.com',
    order_id: call.option('order-id') ?? `test-${Date.now().toString(36)}`,
    order_amount: call.option('amount') ?? (exponent === 0 ? '20' : `19.${'99'.padEnd(exponent, '0')}`),
    order_currency: currency,
    order_description: 'Test payment',
    payer_ip: '203.0.113.7',
    return_url: 'https://example.com/return',
  });
  // The hash debugger tells the hash of a request, so that the command needs no password.
  const { sha1 } = await admin.request<{ sha1: string | null }>('POST', '/admin/api/explain', {
    mid: account.mid,
    request: String(form),
  });
  if (sha1 === null) throw new StartupError('The role of this admin token does not allow signing a payment.');
  form.set('hash', sha1);
  const answer = await post(admin, form);
  if (answer.result === 'ERROR') throw new StartupError(`The gateway refused the payment: ${refusalOf(answer)}`);
  call.output.result(answer, () => members(answer));
  return answer.result === (call.flag('decline') ? 'DECLINED' : 'SUCCESS') ? undefined : 1;
}

async function post({ url }: AdminClient, body: URLSearchParams): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(SALE_TIMEOUT_MS);
    const response = await fetch(`${url}/post`, { method: 'POST', body, redirect: 'manual', signal });
    return (await response.json()) as Answer;
  } catch (error) {
    throw new UnreachableError(`The gateway at ${url} did not answer the payment (${causeOf(error)}).`);
  }
}

const refusalOf = ({ error_message, errors }: Answer): string =>
  [error_message, ...(Array.isArray(errors) ? errors.map((problem) => problem.error_message) : [])].join('; ');

/** What the simulated provider of a payment does; the notification that follows reaches the gateway by itself. */
async function runScenario(call: Call, scenario: object, sentence: string): Promise<undefined> {
  const admin = await connectAdmin(call);
  const path = `/sandbox/api/payments/${await paymentIdOf(admin, call)}`;
  call.output.result(await admin.request('POST', path, scenario), sentence);
}

export function triggerChargeback(call: Call): Promise<undefined> {
  const respondBy = call.option('respond-by');
  const chargeback = respondBy === undefined ? true : { respond_by: respondBy };
  return runScenario(call, { chargeback }, 'The simulated provider reports a chargeback.');
}

export const triggerBankCallback = (call: Call): Promise<undefined> =>
  runScenario(
    call,
    { bank_callback: call.arg('status') },
    `The simulated bank sends its callback: ${call.arg('status')}.`,
  );

export const triggerProviderStatus = (call: Call): Promise<undefined> =>
  runScenario(
    call,
    { provider_status: call.arg('status') },
    `The simulated provider answers ${call.arg('status')} when it is asked.`,
  );

export async function triggerFault(call: Call): Promise<undefined> {
  const admin = await connectAdmin(call);
  const answer = await admin.request<{ faults?: Answer[] }>('POST', '/sandbox/api/faults', {
    mode: call.arg('mode'),
    mid: call.option('mid') ?? null,
    brand: call.option('brand') ?? null,
    count: call.number('count') ?? null,
  });
  const isNone = call.arg('mode') === 'none';
  call.output.result(answer, () =>
    isNone ? 'The faults are removed.' : columns((answer.faults ?? []).map((fault) => Object.values(fault))),
  );
}

export async function triggerClock(call: Call): Promise<undefined> {
  const admin = await connectAdmin(call);
  const answer = await admin.request<{ now: string }>('POST', '/admin/api/clock', {
    advance_seconds: secondsOf(call.arg('duration')),
    mid: call.option('mid') ?? null,
  });
  call.output.result(answer, () => `It is ${answer.now} (UTC); everything due by then has happened.`);
}
