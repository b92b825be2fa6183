/** What the sandbox console shows of a request that it sent: the answer, the signed text, and the payment's callbacks. */
import { maskedAnswer } from '../../../core/api-calls/mask.ts';
import { listPaymentCallbacks } from '../../../core/callbacks/log.ts';
import type { Account, Gateway } from '../../../core/context.ts';
import type { ConsoleField, ConsoleRequest } from '../../../core/sandbox/console.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { isObject } from '../../../lib/text/json.ts';
import type { Problem } from '../../../rules/errors.ts';
import { exchange } from '../api-calls/requests.ts';
import { stateBadge, typeName } from '../callbacks/states.ts';
import { badge, choiceField, field, notice } from '../frame/parts.ts';
import type { PanelRequest } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { PATHS } from './frame.ts';

const text = panelTexts.sandboxConsole;

export interface Outcome {
  request: ConsoleRequest;
  status: number;
  body: Record<string, unknown>;
  problems: readonly Problem[];
  isRefused: boolean;
}

/** Sends a request as a merchant's server does. */
export async function sendRequest({ send }: PanelRequest, request: ConsoleRequest): Promise<Outcome> {
  const { status, body } = await send(request);
  const answer = isObject(body) ? body : {};
  return { request, status, body: answer, problems: problemsIn(answer), isRefused: status >= 400 };
}

/** The entries `field: sentence` of a refusal. */
function problemsIn({ errors }: Record<string, unknown>): Problem[] {
  return (Array.isArray(errors) ? errors : []).flatMap((entry: unknown) => {
    const message = isObject(entry) ? String(entry.error_message) : '';
    const at = message.indexOf(': ');
    return at === -1 ? [] : [{ field: message.slice(0, at), sentence: message.slice(at + 2) }];
  });
}

const asText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const UUID = /[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/i;

const paymentIdIn = (body: Record<string, unknown>): string =>
  asText(body.trans_id) ?? asText(body.payment_id) ?? UUID.exec(asText(body.redirect_url) ?? '')?.[0] ?? '';

/** The outcome: what happened, how it was signed, where it goes on, and the callbacks that the payment has until now. */
export async function outcomeView(
  gateway: Gateway,
  { mid }: Account,
  { request, status, body, problems, isRefused }: Outcome,
  fields: readonly ConsoleField[],
): Promise<Html> {
  const redirect = asText(body.redirect_url);
  const paymentId = paymentIdIn(body);
  const others = problems.filter(({ field: name }) => !fields.some((one) => one.name === name));
  const isPayment = isUuid(paymentId) && !isRefused;
  return html`${notice(isRefused ? `${text.refused} ${asText(body.error_message) ?? ''}` : text.accepted, isRefused ? 'bad' : 'good')}
${others.length > 0 && html`<ul class="links error">${others.map(({ field: name, sentence }) => html`<li>${name}: ${sentence}</li>`)}</ul>`}
<section class="card" aria-labelledby="outcome"><h2 id="outcome">HTTP ${status} ${asText(body.status) && badge(body.status as string)}</h2>
<h3>${text.signedText}</h3><p class="soft small">${text.signedHint}</p><pre class="wrap">${request.signedText}</pre>
${
  isPayment &&
  html`<div class="actions"><a class="button" href="/admin/payments/${paymentId}">${text.payment}</a>${
    redirect && html`<a class="button quiet" href="${redirect}" target="_blank" rel="noopener">${text.openPage}</a>`
  }<a class="button quiet" href="${PATHS.requests}?mid=${mid}&amp;payment=${paymentId}">${text.nextRequest}</a><a class="button quiet" href="${PATHS.controls}?payment=${paymentId}">${text.playBank}</a></div>`
}</section>${isPayment && (await callbacksView(gateway, { mid, paymentId }))}`;
}

/** Callbacks are written with the state of the payment, so those of this request are there already. */
async function callbacksView(gateway: Gateway, payment: { mid: string; paymentId: string }): Promise<Html> {
  const callbacks = await listPaymentCallbacks(gateway, payment);
  return html`<section class="card" aria-labelledby="callbacks"><h2 id="callbacks">${text.callbacksOfPayment}</h2>${
    callbacks.length === 0 && html`<p class="soft">${text.noCallbackYet}</p>`
  }${callbacks.map(
    ({ callback }, index) =>
      html`<h3>${typeName(callback.type)} ${stateBadge(callback)}</h3><pre class="wrap" tabindex="0" aria-label="${text.body} ${index + 1}">${callback.body}</pre>`,
  )}</section>`;
}

/** The request and the answer, without secrets. */
export const exchangeOf = ({ request, body }: Outcome): Html => exchange(request.fields, maskedAnswer(body));

const longField = ({ value, field: entry }: ConsoleField): boolean =>
  value.length > 100 || entry?.lengthMost !== undefined;

/** What a text has between backticks is code. */
const withCode = (text: string): Html =>
  html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;

/** A field of a request, with its name in the protocol and what it expects. */
export function consoleInput(
  { name, value, field: entry }: ConsoleField,
  sent: string | undefined,
  error: string | undefined,
): Html {
  const details = [
    entry?.hint ?? (entry && withCode(entry.expects)),
    entry?.need === 'must' || !entry ? undefined : text.optional,
  ].filter((detail) => detail !== undefined);
  const options = {
    name,
    label: entry?.label ?? text.labels[name] ?? name,
    // A secret is not repeated; the form has its sample again.
    value: entry?.isSecret ? value : (sent ?? value),
    hint: html`<code>${name}</code> ${details.map((detail, index) => html`${index > 0 && ', '}${detail}`)}`,
    error,
    attributes: html`autocomplete="off" spellcheck="false"`,
  };
  const choices = entry?.schema.enum as readonly string[] | undefined;
  if (choices) {
    const list = choices.map((one): [string, string] => [one, one]);
    return choiceField(options, [['', text.notSent], ...list]);
  }
  if (!longField({ name, value, field: entry })) return field(options);
  return field(
    options,
    (attributes) => html`<textarea class="mono" ${attributes} rows="4">
${options.value}</textarea>`,
  );
}
