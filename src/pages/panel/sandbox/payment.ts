/** The page of the sandbox console that makes a payment of any brand, as a merchant's server would. */
import { auditEntry } from '../../../core/operators/principal.ts';
import {
  type ConsoleField,
  type ConsoleProtocol,
  consoleBrands,
  consoleFields,
  consoleRequest,
} from '../../../core/sandbox/console.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { Refusal } from '../../../rules/errors.ts';
import { formToken } from '../frame/layout.ts';
import { choiceField } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { methodName } from '../payments/methods.ts';
import {
  accountForm,
  type ChosenAccount,
  chosenAccount,
  consolePage,
  errorIn,
  newOrder,
  PATHS,
  withoutAccounts,
} from './frame.ts';
import { consoleInput, exchangeOf, type Outcome, outcomeView, sendRequest } from './outcome.ts';

const text = panelTexts.sandboxConsole;
const PROTOCOLS = ['s2s', 'checkout'] as const satisfies ConsoleProtocol[];

interface Form {
  protocol: ConsoleProtocol;
  brand: string;
  fields: readonly ConsoleField[];
}

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

const isOrder = (name: string): boolean => /^order[._]|^identifier$/.test(name);
const isOfBrand = ({ name, field: entry }: ConsoleField): boolean =>
  name.startsWith('parameters[') || (text.labels[name] === undefined && entry !== undefined);

async function page(
  request: PanelRequest,
  chosen: ChosenAccount,
  form: Form,
  sent?: ReadonlyMap<string, string>,
  outcome?: Outcome,
): Promise<PanelAnswer> {
  const { gateway, session } = request;
  const { account } = chosen;
  if (!account) return withoutAccounts('payment');
  const { protocol, brand, fields } = form;
  const problems = outcome?.problems ?? [];
  const isRefused = outcome?.isRefused ?? false;
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
  return consolePage(
    'payment',
    account,
    html`${accountForm('payment', chosen, choices)}
${outcome && (await outcomeView(gateway, account, outcome, fields))}${outcome && !isRefused && exchangeOf(outcome)}
<form method="post" action="${PATHS.payment}">${formToken(session)}<input type="hidden" name="mid" value="${account.mid}"><input type="hidden" name="protocol" value="${protocol}"><input type="hidden" name="brand" value="${brand}">
<p class="soft">${text.intro}</p>
<div class="columns even"><div>${ofOrder}${ofBrand}</div>${others}</div>
<div class="actions"><button>${text.send}</button></div></form>${isRefused && outcome && html`<div class="field">${exchangeOf(outcome)}</div>`}`,
    isRefused ? 400 : 200,
  );
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
  return page(request, chosen, form, sent, await sendRequest(request, composed));
}

const common = { path: PATHS.payment, permission: 'sandbox.use', scope: 'accounts', isSandboxOnly: true } as const;

export const consolePaymentPages: readonly PanelRoute[] = [
  { method: 'GET', ...common, handle: showForm },
  { method: 'POST', ...common, unconfirmed: 'The sandbox moves no money.', handle: send },
];
