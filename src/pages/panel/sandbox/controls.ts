/** The page of the sandbox console that plays the bank, injects faults and moves the clock. */

import type { Payment } from '../../../core/context.ts';
import { sees } from '../../../core/operators/principal.ts';
import { listPayments } from '../../../core/payments/find.ts';
import { advanceClock } from '../../../core/sandbox/clock.ts';
import { type Fault, listFaults, runScenario, setFault } from '../../../core/sandbox/scenarios.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { BRAND_LABELS } from '../../../rules/brands.ts';
import { invalidField, type Problem, Refusal } from '../../../rules/errors.ts';
import { FAULT_MODES, MOST_FAULTS } from '../../../rules/sandbox-scenarios.ts';
import { formToken } from '../frame/layout.ts';
import { type Column, choiceField, facts, field, money, notice, table, time, withQuery } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { brandChoices } from '../payments/choices.ts';
import { methodCell } from '../payments/methods.ts';
import { statusBadge } from '../payments/status.ts';
import {
  accountForm,
  type ChosenAccount,
  chosenAccount,
  consolePage,
  errorIn,
  PATHS,
  problemsOf,
  withoutAccounts,
} from './frame.ts';

const text = panelTexts.sandboxConsole;
const NEWEST = 8;
const SECONDS: Readonly<Record<string, number>> = { minutes: 60, hours: 3600, days: 86_400 };

/** What was submitted, and what is wrong with it. */
interface Sent {
  form: ReadonlyMap<string, string>;
  problems: readonly Problem[];
}

const doneText = (done: string | undefined): string | undefined =>
  ({ bank: text.reported, fault: text.faultSet, clock: text.moved })[done ?? ''];

async function page(
  request: PanelRequest,
  chosen: ChosenAccount,
  paymentId: string,
  sent?: Sent,
): Promise<PanelAnswer> {
  const { query } = request;
  const { account } = chosen;
  if (!account) return withoutAccounts('controls');
  const [bank, fault] = [
    await bankSection(request, chosen, paymentId, sent),
    await faultSection(request, chosen, sent),
  ];
  return consolePage(
    'controls',
    account,
    html`${notice(doneText(query.done))}${accountForm('controls', chosen)}
<div class="columns even">${bank}<div>${fault}${clockSection(request, chosen, sent)}</div></div>`,
    sent ? 400 : 200,
  );
}

const form = ({ session }: PanelRequest, path: string, body: Html, label: string): Html =>
  html`<form method="post" action="${PATHS.controls}/${path}">${formToken(session)}${body}<div class="actions"><button>${label}</button></div></form>`;

async function bankSection(
  request: PanelRequest,
  { account }: ChosenAccount,
  paymentId: string,
  sent: Sent | undefined,
): Promise<Html> {
  const { gateway, session } = request;
  const filter = { mid: account?.mid, mids: session.principal.mids, limit: NEWEST };
  const { payments } = await listPayments(gateway, filter);
  const columns: Column<Payment>[] = [
    {
      label: text.payment,
      cell: ({ paymentId: id, orderId }) =>
        html`<a href="${withQuery(PATHS.controls, { mid: account?.mid ?? '', payment: id })}">${orderId}</a>`,
    },
    { label: text.brand, cell: ({ brand }) => methodCell(brand) },
    { label: text.state, cell: statusBadge },
    { label: panelTexts.payments.amount, isNumber: true, cell: ({ amount, currency }) => money(amount, currency) },
  ];
  const error = (name: string): string | undefined => sent && errorIn(sent.problems, name);
  const fields = html`${field({ name: 'payment', label: text.paymentId, value: sent?.form.get('payment') ?? paymentId, error: error('payment'), attributes: html`required class="mono" autocomplete="off"` })}
${choiceField({ name: 'scenario', label: text.report, value: sent?.form.get('scenario'), error: error('scenario') }, Object.entries(text.scenarios))}`;
  return html`<div><section class="card" aria-labelledby="bank"><h2 id="bank">${text.bank}</h2><p class="soft">${text.bankHint}</p>${form(request, 'bank', fields, text.reportIt)}</section>
<section class="card flush"><h2 class="inset">${text.newest}</h2>${
    payments.length > 0 ? table(text.newest, columns, payments) : html`<p class="inset soft">${text.noPayments}</p>`
  }</section></div>`;
}

/** The accounts to choose from; all of them together for an operator without a restriction. */
const scopes = ({ session }: PanelRequest, { names }: ChosenAccount): [string, string][] => [
  ...(session.principal.mids === null ? ([['', text.allAccounts]] as [string, string][]) : []),
  ...names,
];

async function faultSection(request: PanelRequest, chosen: ChosenAccount, sent: Sent | undefined): Promise<Html> {
  const { gateway, session } = request;
  const error = (name: string): string | undefined => sent && errorIn(sent.problems, name);
  const own = { ...chosen.account };
  const columns: Column<Fault>[] = [
    { label: text.mode, cell: ({ mode }) => text.modes[mode] ?? mode },
    { label: text.account, cell: ({ mid }) => (mid === null ? text.allAccounts : (chosen.names.get(mid) ?? mid)) },
    { label: text.brand, cell: ({ brand }) => (brand === null ? text.anyBrand : methodCell(brand)) },
    { label: text.left, isNumber: true, cell: ({ left }) => left },
  ];
  const isShown = gateway.simulator !== undefined;
  const faults = isShown ? await listFaults(gateway, session.principal) : [];
  const fields = html`${choiceField({ name: 'mid', label: text.account, value: own.mid, error: error('fault_mid') }, scopes(request, chosen))}
${choiceField({ name: 'brand', label: text.brand, error: error('brand') }, [['', text.anyBrand], ...brandChoices()])}
${choiceField(
  { name: 'mode', label: text.mode, value: sent?.form.get('mode'), error: error('mode') },
  FAULT_MODES.map((one): [string, string] => [one, text.modes[one] ?? one]),
)}
${field({ name: 'count', label: text.count, value: sent?.form.get('count') ?? '1', error: error('count'), attributes: html`inputmode="numeric"` })}`;
  return html`<section class="card" aria-labelledby="fault"><h2 id="fault">${text.fault}</h2><p class="soft">${text.faultHint}</p>${form(request, 'fault', fields, text.inject)}${
    isShown &&
    html`<div class="field"><h3>${text.faults}</h3>${faults.length > 0 ? table(text.faults, columns, faults) : html`<p class="soft">${text.noFaults}</p>`}</div>`
  }</section>`;
}

function clockSection(request: PanelRequest, chosen: ChosenAccount, sent: Sent | undefined): Html {
  const { clock } = request.gateway;
  const mid = chosen.account?.mid;
  const error = (name: string): string | undefined => sent && errorIn(sent.problems, name);
  const hours = Math.round(clock.offset(mid) / 36_000) / 100;
  const fields = html`${choiceField({ name: 'clock_mid', label: text.account, value: mid, error: error('clock_mid') }, scopes(request, chosen))}
${field({ name: 'by', label: text.amount, value: sent?.form.get('by') ?? '1', error: error('by'), attributes: html`inputmode="decimal"` })}
${choiceField({ name: 'unit', label: text.unit, value: sent?.form.get('unit') ?? 'days' }, Object.entries(text.units))}`;
  return html`<section class="card" aria-labelledby="clock"><h2 id="clock">${text.clock}</h2><p class="soft">${text.clockHint}</p>${facts(
    [
      [text.now, time(clock.now(mid))],
      [text.ahead, `${hours} ${text.units.hours}`],
    ],
  )}${form(request, 'clock', fields, text.move)}</section>`;
}

async function show(request: PanelRequest): Promise<PanelAnswer> {
  const { query } = request;
  const payment = await seenPayment(request, query.payment ?? '');
  return page(request, await chosenAccount(request, payment?.mid ?? query.mid), payment?.paymentId ?? '');
}

async function seenPayment({ gateway, session }: PanelRequest, paymentId: string): Promise<Payment | undefined> {
  const payment = isUuid(paymentId) ? await gateway.payments.findAnywhere(paymentId) : undefined;
  return payment && sees(session.principal, payment.mid) ? payment : undefined;
}

/** Shows the page again with the problems, or goes to it after the change. */
async function perform(
  request: PanelRequest,
  name: 'bank' | 'fault' | 'clock',
  mid: string | undefined,
  otherwise: string,
  run: () => Promise<{ payment?: string }>,
): Promise<PanelAnswer> {
  const { form: sent } = request;
  try {
    const shown = await run();
    return { redirect: withQuery(PATHS.controls, { ...(mid && { mid }), ...shown, done: name }) };
  } catch (error) {
    const problems = problemsOf(error, otherwise);
    const field = error instanceof Refusal ? error.problems[0]?.field : undefined;
    const named = field !== undefined && FIELDS.includes(field) ? problems.map((one) => ({ ...one, field })) : problems;
    const isSeen = mid !== undefined && isUuid(mid) && sees(request.session.principal, mid);
    return page(request, await chosenAccount(request, isSeen ? mid : undefined), '', { form: sent, problems: named });
  }
}

/** The fields that a refusal may name. */
const FIELDS = ['payment', 'scenario', 'fault_mid', 'brand', 'mode', 'count', 'clock_mid', 'by'];

async function reportAsBank(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, form: sent } = request;
  const payment = await seenPayment(request, sent.get('payment')?.trim() ?? '');
  return perform(request, 'bank', payment?.mid, 'scenario', async () => {
    if (!payment) throw invalidField('payment', panelTexts.sandboxConsole.noSuchPayment);
    const scenario = sent.get('scenario') ?? '';
    if (!Object.hasOwn(text.scenarios, scenario)) throw invalidField('scenario', text.chooseOne);
    const [name = '', value] = scenario.split(':');
    await runScenario(gateway, caller, payment.paymentId, { [name]: value === 'true' ? true : value });
    return { payment: payment.paymentId };
  });
}

/** The chosen account; undefined for all accounts, which a restricted operator cannot choose. */
function scopeOf({ session, form: sent }: PanelRequest, name: string, field: string): string | undefined {
  const mid = sent.get(name) ?? '';
  if (mid === '' && session.principal.mids === null) return undefined;
  if (!isUuid(mid) || !sees(session.principal, mid)) throw invalidField(field, text.restricted);
  return mid.toLowerCase();
}

const inject = (request: PanelRequest): Promise<PanelAnswer> =>
  perform(request, 'fault', request.form.get('mid') || undefined, 'mode', async () => {
    const { gateway, caller, form: sent } = request;
    const mid = scopeOf(request, 'mid', 'fault_mid');
    const mode = FAULT_MODES.find((one) => one === sent.get('mode'));
    if (!mode) throw invalidField('mode', text.chooseOne);
    const brand = sent.get('brand') || undefined;
    if (brand !== undefined && !BRAND_LABELS.includes(brand)) throw invalidField('brand', text.chooseOne);
    const count = wholeNumber(sent.get('count') ?? '');
    if (count < 1 || count > MOST_FAULTS) throw invalidField('count', text.wholeNumber);
    await setFault(gateway, caller, { ...(mid && { mid }), ...(brand && { brand }), mode, count });
    return {};
  });

const wholeNumber = (value: string): number => (/^\d{1,6}$/.test(value.trim()) ? Number(value) : -1);

const move = (request: PanelRequest): Promise<PanelAnswer> =>
  perform(request, 'clock', request.form.get('clock_mid') || undefined, 'by', async () => {
    const { gateway, caller, form: sent } = request;
    const mid = scopeOf(request, 'clock_mid', 'clock_mid');
    const unit = SECONDS[sent.get('unit') ?? ''] ?? 0;
    const by = /^\d{1,6}(\.\d{1,3})?$/.test(sent.get('by') ?? '') ? Number(sent.get('by')) : -1;
    if (by <= 0 || unit === 0) throw invalidField('by', text.notATime);
    await advanceClock(gateway, caller, by * unit, mid, 'by');
    return {};
  });

const common = { permission: 'sandbox.use', scope: 'accounts', isSandboxOnly: true } as const;
const change = { method: 'POST', unconfirmed: 'The sandbox moves no money.', ...common } as const;

export const controlPages: readonly PanelRoute[] = [
  { method: 'GET', path: PATHS.controls, ...common, handle: show },
  { ...change, path: `${PATHS.controls}/bank`, handle: reportAsBank },
  { ...change, path: `${PATHS.controls}/fault`, handle: inject },
  { ...change, path: `${PATHS.controls}/clock`, handle: move },
];
