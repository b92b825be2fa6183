/** The page of the sandbox console that makes a payment of any brand, as a merchant's server would. */
import { maskedAnswer } from '../../../core/api-calls/mask.ts';
import { auditEntry } from '../../../core/operators/principal.ts';
import {
  type ConsoleField,
  type ConsoleProtocol,
  type ConsoleRequest,
  consoleBrands,
  consoleFields,
  consoleRequest,
} from '../../../core/sandbox/console.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { isObject } from '../../../lib/text/json.ts';
import { type Problem, Refusal } from '../../../rules/errors.ts';
import { exchange } from '../api-calls/requests.ts';
import { formToken } from '../frame/layout.ts';
import { badge, choiceField, field, notice } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { methodName } from '../payments/methods.ts';
import {
  accountForm,
  type ChosenAccount,
  chosenAccount,
  consolePage,
  errorIn,
  PATHS,
  withoutAccounts,
} from './frame.ts';

const text = panelTexts.sandboxConsole;
const PROTOCOLS = ['s2s', 'checkout'] as const satisfies ConsoleProtocol[];

interface Form {
  protocol: ConsoleProtocol;
  brand: string;
  fields: readonly ConsoleField[];
}

interface Outcome {
  request: ConsoleRequest;
  status: number;
  body: Record<string, unknown>;
  problems: readonly Problem[];
}

/** A number that no earlier order of the console has. */
const newOrder = (): string => `console-${Date.now().toString(36)}`;

async function formOf(
  request: PanelRequest,
  { account }: ChosenAccount,
  sent: ReadonlyMap<string, string>,
): Promise<Form> {
  if (!account) throw new Refusal('noSuchAccount');
  const protocol = PROTOCOLS.find((one) => one === sent.get('protocol')) ?? 's2s';
  const brands = consoleBrands(request.gateway, account, protocol);
  const brand = brands.find((one) => one === sent.get('brand')) ?? brands[0] ?? 'vcard';
  return { protocol, brand, fields: await consoleFields(request.gateway, account, protocol, brand, newOrder()) };
}

const longField = ({ value, field: entry }: ConsoleField): boolean =>
  value.length > 100 || entry?.lengthMost !== undefined;

/** What a text has between backticks is code. */
const withCode = (text: string): Html =>
  html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;

function consoleInput(
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

const isOrder = (name: string): boolean => /^order[._]|^identifier$/.test(name);
const isOfBrand = ({ name, field: entry }: ConsoleField): boolean =>
  name.startsWith('parameters[') || (text.labels[name] === undefined && entry !== undefined);

function page(
  request: PanelRequest,
  chosen: ChosenAccount,
  form: Form,
  sent?: ReadonlyMap<string, string>,
  outcome?: Outcome,
): PanelAnswer {
  const { gateway, session } = request;
  const { account } = chosen;
  if (!account) return withoutAccounts('payment');
  const { protocol, brand, fields } = form;
  const problems = outcome?.problems ?? [];
  const isRefused = outcome !== undefined && outcome.status !== 200;
  const inputs = (of: (one: ConsoleField) => boolean): Html[] =>
    fields
      .filter(of)
      .map((one) => consoleInput(one, isRefused ? sent?.get(one.name) : undefined, errorIn(problems, one.name)));
  const group = (title: string, list: readonly Html[]): Html | false =>
    list.length > 0 && html`<fieldset class="card"><legend><h2>${title}</h2></legend>${list}</fieldset>`;
  const ofOrder = group(
    text.order,
    inputs(({ name }) => isOrder(name)),
  );
  const ofBrand = group(
    text.brandFields,
    inputs((one) => !isOrder(one.name) && isOfBrand(one)),
  );
  const others = group(
    text.payerAndAddresses,
    inputs((one) => !isOrder(one.name) && !isOfBrand(one)),
  );
  const brands = consoleBrands(gateway, account, protocol).map((one): [string, string] => [one, methodName(one)]);
  const choices = html`${choiceField(
    { name: 'protocol', label: text.protocol, value: protocol },
    PROTOCOLS.map((one): [string, string] => [one, text.protocols[one]]),
  )}${choiceField({ name: 'brand', label: text.brand, value: brand }, brands)}`;
  const details = outcome && exchange(outcome.request.fields, maskedAnswer(outcome.body));
  return consolePage(
    'payment',
    account,
    html`${accountForm('payment', chosen, choices)}
${outcome && outcomeView(outcome, fields)}${outcome && !isRefused && details}
<form method="post" action="${PATHS.payment}">${formToken(session)}<input type="hidden" name="mid" value="${account.mid}"><input type="hidden" name="protocol" value="${protocol}"><input type="hidden" name="brand" value="${brand}">
<p class="soft">${text.intro}</p>
<div class="columns even"><div>${ofOrder}${ofBrand}</div>${others}</div>
<div class="actions"><button>${text.send}</button></div></form>${isRefused && html`<div class="field">${details}</div>`}`,
    isRefused ? 400 : 200,
  );
}

const asText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const UUID = /[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/i;

function outcomeView({ request, status, body, problems }: Outcome, fields: readonly ConsoleField[]): Html {
  const isRefused = status !== 200;
  const redirect = asText(body.redirect_url);
  const paymentId = asText(body.trans_id) ?? UUID.exec(redirect ?? '')?.[0] ?? '';
  const others = problems.filter(({ field: name }) => !fields.some((one) => one.name === name));
  return html`${notice(isRefused ? `${text.refused} ${asText(body.error_message) ?? ''}` : text.accepted, isRefused ? 'bad' : 'good')}
${others.length > 0 && html`<ul class="links error">${others.map(({ field: name, sentence }) => html`<li>${name}: ${sentence}</li>`)}</ul>`}
<section class="card" aria-labelledby="outcome"><h2 id="outcome">HTTP ${status} ${asText(body.status) && badge(body.status as string)}</h2>
<h3>${text.signedText}</h3><p class="soft small">${text.signedHint}</p><pre class="wrap">${request.signedText}</pre>
${
  isUuid(paymentId) &&
  html`<div class="actions"><a class="button" href="/admin/payments/${paymentId}">${text.payment}</a>${
    redirect && html`<a class="button quiet" href="${redirect}" target="_blank" rel="noopener">${text.openPage}</a>`
  }<a class="button quiet" href="${PATHS.controls}?payment=${paymentId}">${text.playBank}</a></div>`
}</section>`;
}

async function showForm(request: PanelRequest): Promise<PanelAnswer> {
  const chosen = await chosenAccount(request, request.query.mid);
  if (!chosen.account) return withoutAccounts('payment');
  return page(request, chosen, await formOf(request, chosen, new Map(Object.entries(request.query))));
}

async function send(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, form: sent } = request;
  const chosen = await chosenAccount(request, sent.get('mid') ?? '');
  const form = await formOf(request, chosen, sent);
  const account = chosen.account as NonNullable<ChosenAccount['account']>;
  const values = new Map(form.fields.map(({ name }) => [name, (sent.get(name) ?? '').replaceAll('\r\n', '\n')]));
  const composed = consoleRequest(account, form.protocol, form.brand, values);
  const facts = { mid: account.mid, subject: composed.path, after: { brand: form.brand } };
  await gateway.audit.append(auditEntry(gateway, caller, 'sandbox.pay', facts));
  const { status, body } = await request.send(composed);
  const answer = isObject(body) ? body : {};
  return page(request, chosen, form, sent, { request: composed, status, body: answer, problems: problemsIn(answer) });
}

/** The entries `field: sentence` of a refusal. */
function problemsIn({ errors }: Record<string, unknown>): Problem[] {
  return (Array.isArray(errors) ? errors : []).flatMap((entry: unknown) => {
    const message = isObject(entry) ? String(entry.error_message) : '';
    const at = message.indexOf(': ');
    return at === -1 ? [] : [{ field: message.slice(0, at), sentence: message.slice(at + 2) }];
  });
}

const common = { path: PATHS.payment, permission: 'sandbox.use', scope: 'accounts', isSandboxOnly: true } as const;

export const consolePaymentPages: readonly PanelRoute[] = [
  { method: 'GET', ...common, handle: showForm },
  { method: 'POST', ...common, unconfirmed: 'The sandbox moves no money.', handle: send },
];
