/** The page on how an account is paid: its terms and its bank accounts, with the forms that change them. */

import { termsView } from '../../../core/exports/settlements.ts';
import { isAuthor } from '../../../core/operators/principal.ts';
import {
  confirmBankAccount,
  listBankAccounts,
  type ShownBankAccount,
  setBankAccount,
} from '../../../core/settlements/bank-accounts.ts';
import { listTerms, type SettlementTerms, setTerms } from '../../../core/settlements/terms.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { type ErrorName, type Problem, Refusal } from '../../../rules/errors.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { CYCLES, DELAY_DAYS_MOST, RESERVE_DAYS_MOST } from '../../../rules/settlements.ts';
import { accountOfPath, pathOf } from '../accounts/parts.ts';
import { formToken } from '../frame/layout.ts';
import { badge, type Column, choiceField, empty, field, fill, money, notice, table, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { PATHS } from '../ledger/parts.ts';
import { languageTag, panelTexts } from '../locales/index.ts';

const text = panelTexts.payouts;

export const settlementPath = (mid: string): string => `${pathOf({ mid })}/settlement`;

/** What a field refused, with what it accepts. */
export const errorsOf =
  (problems: readonly Problem[]) =>
  (name: string): string | undefined => {
    const problem = problems.find((one) => one.field === name);
    return problem && [problem.sentence, problem.expected].filter(Boolean).join(' ');
  };

/** Monday is 1; the first day of 2024 was one. */
const weekdayName = (weekday: number): string =>
  new Intl.DateTimeFormat(languageTag(), { weekday: 'long', timeZone: 'UTC' }).format(Date.UTC(2024, 0, weekday));

/** When it is cut, in words. */
function rhythm({ cycle, weekday, day }: SettlementTerms): string {
  if (cycle === 'weekly') return fill(text.weeklyOn, { weekday: weekdayName(weekday ?? 1) });
  if (cycle === 'monthly') return fill(text.monthlyOn, { day: String(day) });
  return text.cycles[cycle];
}

const termsColumns = (mid: string, mayChange: boolean): Column<SettlementTerms>[] => [
  { label: text.currency, cell: ({ currency }) => currency },
  {
    label: text.cycle,
    cell: (terms) => {
      const { time_zone: zone, cut_off: cutOff } = termsView(terms);
      const at = terms.cycle === 'manual' ? '' : ` ${cutOff} ${zone}`;
      return html`${rhythm(terms)}${at}${terms.businessDays && html`<p class="soft small">${text.businessDays}</p>`}`;
    },
  },
  { label: text.delay, isNumber: true, cell: ({ delayDays }) => delayDays },
  {
    label: text.reserve,
    cell: ({ reservePercent, reserveDays }) =>
      reservePercent && fill(text.reserveOf, { percent: reservePercent, days: String(reserveDays) }),
  },
  {
    label: text.minimum,
    isNumber: true,
    cell: ({ minimum, currency }) => (minimum === null ? null : money(minimum, currency)),
  },
  { label: text.hold, cell: ({ hold }) => hold && html`${badge(text.held, 'bad')} ${hold}` },
  ...(mayChange
    ? [
        {
          label: text.change,
          cell: ({ currency }: SettlementTerms) =>
            html`<a href="${settlementPath(mid)}?currency=${currency}#terms">${text.change}</a>`,
        },
      ]
    : []),
];

const number = html`inputmode="numeric" autocomplete="off"`;
const code = html`required maxlength="3" size="5" autocomplete="off" autocapitalize="characters"`;

/** The form for the terms of a currency, with those that the currency has now. */
function termsForm(
  { session, query, form }: PanelRequest,
  mid: string,
  all: readonly SettlementTerms[],
  problems: readonly Problem[] | undefined,
): Html {
  const errorOf = errorsOf(problems ?? []);
  const current = all.find(({ currency }) => currency === query.currency);
  const view = current && termsView(current);
  const stored: Readonly<Record<string, string | undefined>> = view
    ? {
        ...{ currency: view.currency, cycle: view.cycle, time_zone: view.time_zone, cut_off: view.cut_off },
        ...{ weekday: view.weekday?.toString(), day: view.day?.toString(), delay_days: String(view.delay_days) },
        ...{ minimum: view.minimum ?? '', percent: view.reserve?.percent, days: view.reserve?.days?.toString() },
        ...{ hold: view.hold ?? '', ...(view.business_days && { business_days: 'true' }) },
      }
    : { cycle: 'daily', time_zone: 'UTC', cut_off: '00:00', delay_days: '0' };
  const shownOf = (name: string): string | undefined => (problems ? form.get(name) : stored[name]);
  const input = (name: string, label: string, attributes: Html, hint?: string, of = name): Html =>
    field({ name, label, value: shownOf(name), hint, error: errorOf(of), attributes });
  return html`<section class="card narrow" id="terms"><h2>${text.setTerms}</h2><p class="soft">${text.setTermsHint}</p><form method="post" action="${settlementPath(mid)}/terms">${formToken(session)}
${input('currency', text.currency, code)}
${choiceField(
  { name: 'cycle', label: text.cycle, value: shownOf('cycle'), error: errorOf('cycle') },
  CYCLES.map((cycle) => [cycle, text.cycles[cycle]] as const),
)}
${choiceField(
  { name: 'weekday', label: text.weekday, value: shownOf('weekday'), error: errorOf('weekday') },
  [1, 2, 3, 4, 5, 6, 7].map((weekday) => [String(weekday), weekdayName(weekday)] as const),
)}
${input('day', text.day, html`type="number" min="1" max="31"`, text.dayHint)}
${input('time_zone', text.timeZone, html`autocomplete="off" spellcheck="false"`, text.timeZoneHint)}
${field({ name: 'cut_off', label: text.cutOff, type: 'time', value: shownOf('cut_off'), hint: text.cutOffHint, error: errorOf('cut_off') })}
<label class="choice field"><input type="checkbox" name="business_days" value="true"${shownOf('business_days') === 'true' && html` checked`}><span>${text.onlyBusinessDays}</span></label>
${input('delay_days', text.delay, html`required min="0" max="${DELAY_DAYS_MOST}" ${number}`, text.delayHint)}
${input('minimum', text.minimum, html`inputmode="decimal" autocomplete="off"`, text.minimumHint)}
${input('percent', text.reservePercent, html`inputmode="decimal" autocomplete="off"`, text.reserveHint, 'reserve.percent')}
${input('days', text.reserveDays, html`max="${RESERVE_DAYS_MOST}" ${number}`, undefined, 'reserve.days')}
${input('hold', text.hold, html`autocomplete="off"`, text.holdHint)}
<div class="actions"><button>${text.setTerms}</button></div></form></section>`;
}

/** Ends the hold of a change, by another person than the one who made it. */
function confirmation({ session, caller }: PanelRequest, mid: string, account: ShownBankAccount): Html {
  const { currency, heldUntil } = account;
  const held = html`${badge(text.held, 'bad')} ${text.until} ${time(heldUntil)}`;
  if (!isAllowed(session.principal.role, 'settlements.manage')) return held;
  if (isAuthor(account, caller)) return html`${held}<p class="soft small">${text.ownChange}</p>`;
  return html`${held}<form method="post" action="${settlementPath(mid)}/bank-account/confirm">${formToken(session)}<input type="hidden" name="currency" value="${currency}"><button class="quiet">${text.confirm}</button></form>`;
}

/** Numbers of accounts that were typed are not repeated in the page. */
function bankForm({ session, form }: PanelRequest, mid: string, problems: readonly Problem[] | undefined): Html {
  const errorOf = errorsOf(problems ?? []);
  const shownOf = (name: string): string | undefined => (problems ? form.get(name) : undefined);
  const plain = html`autocomplete="off" spellcheck="false"`;
  const isOther = ['account_number', 'bank_code', 'country'].some((name) => errorOf(name) !== undefined);
  return html`<section class="card narrow" id="bank"><h2>${text.setBank}</h2><p class="soft">${text.setBankHint}</p><form method="post" action="${settlementPath(mid)}/bank-account">${formToken(session)}
${field({ name: 'bank_currency', label: text.currency, value: shownOf('bank_currency'), error: errorOf('currency'), attributes: code })}
${field({ name: 'holder', label: text.holder, value: shownOf('holder'), error: errorOf('holder'), attributes: html`required maxlength="70" autocomplete="off"` })}
${field({ name: 'iban', label: 'IBAN', error: errorOf('iban'), attributes: plain })}
<details class="field"${isOther && html` open`}><summary>${text.withoutIban}</summary>${field({ name: 'account_number', label: text.accountNumber, error: errorOf('account_number'), attributes: plain })}${field({ name: 'bank_code', label: text.bankCode, error: errorOf('bank_code'), attributes: plain })}${field({ name: 'country', label: text.country, value: shownOf('country'), hint: text.countryHint, error: errorOf('country'), attributes: html`maxlength="2" size="4" autocomplete="off"` })}</details>
<div class="actions"><button>${text.setBank}</button></div></form></section>`;
}

async function show(
  request: PanelRequest,
  refused: { terms?: readonly Problem[]; bank?: readonly Problem[] } = {},
): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const account = await accountOfPath(request);
  const { mid, name } = account;
  const terms = await listTerms(gateway, mid);
  const banks = await listBankAccounts(gateway, mid);
  const now = gateway.clock.now(mid);
  const mayChange = isAllowed(session.principal.role, 'settlements.set_terms');
  const bankColumns: Column<ShownBankAccount>[] = [
    { label: text.currency, cell: ({ currency }) => currency },
    { label: text.holder, cell: ({ holder }) => html`<bdi>${holder}</bdi>` },
    { label: text.bankAccount, cell: ({ masked }) => html`<span class="mono">${masked}</span>` },
    { label: text.changedAt, cell: ({ changedAt }) => time(changedAt) },
    {
      label: panelTexts.settlements.state,
      cell: (one) =>
        one.heldUntil !== null && one.heldUntil > now ? confirmation(request, mid, one) : badge(text.free, 'good'),
    },
  ];
  const title = fill(text.ofAccount, { name });
  const done: Readonly<Record<string, string>> = {
    terms: text.termsSet,
    bank: text.bankSet,
    confirmed: text.confirmed,
  };
  return {
    title,
    status: refused.terms || refused.bank ? 400 : 200,
    body: html`${notice(query.done && done[query.done])}<div class="head"><h1>${title}</h1><div class="actions"><a class="button quiet" href="${PATHS.balances}?mid=${mid}">${panelTexts.ledger.viewBalance}</a><a class="button quiet" href="${PATHS.settlements}?mid=${mid}">${panelTexts.settlements.title}</a></div></div>
<section class="card flush"><h2 class="inset">${text.terms}</h2>${
      terms.length > 0 ? table(text.terms, termsColumns(mid, mayChange), terms) : empty(text.noTerms, text.noTermsHint)
    }</section>
<section class="card flush"><h2 class="inset">${text.bankAccounts}</h2>${
      banks.length > 0
        ? table(text.bankAccounts, bankColumns, banks)
        : empty(text.noBankAccount, text.noBankAccountHint)
    }</section>
${mayChange && html`<div class="columns even">${termsForm(request, mid, terms, refused.terms)}${bankForm(request, mid, refused.bank)}</div>`}`,
  };
}

/** What a form has, or nothing where it is blank. */
export const typed = ({ form }: PanelRequest, name: string): string | undefined => form.get(name)?.trim() || undefined;
/** A number that was typed; a text that is none is refused where it is read. */
export const typedNumber = (request: PanelRequest, name: string): number | undefined => {
  const value = typed(request, name);
  return value === undefined ? undefined : Number(value);
};

/** The balance and the moment of a cut, or of the fees of an invoice. */
export const typedCut = (request: PanelRequest) => ({
  mid: typed(request, 'mid'),
  currency: typed(request, 'currency')?.toUpperCase(),
  until: typed(request, 'until'),
});

/** Leads to the page after a change, or shows it again with what was refused, if it was refused for one of these reasons. */
export async function changed(
  change: () => Promise<string>,
  again: (problems: readonly Problem[]) => Promise<PanelAnswer>,
  reasons: readonly ErrorName[] = ['invalidData'],
): Promise<PanelAnswer> {
  try {
    return { redirect: await change() };
  } catch (error) {
    if (error instanceof Refusal && reasons.includes(error.error)) return again(error.problems);
    throw error;
  }
}

async function changeTerms(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller } = request;
  const { mid } = await accountOfPath(request);
  const cycle = typed(request, 'cycle');
  const [percent, days] = [typed(request, 'percent'), typedNumber(request, 'days')];
  const input = {
    currency: typed(request, 'currency')?.toUpperCase(),
    cycle,
    weekday: cycle === 'weekly' ? typedNumber(request, 'weekday') : undefined,
    day: cycle === 'monthly' ? typedNumber(request, 'day') : undefined,
    time_zone: typed(request, 'time_zone'),
    cut_off: typed(request, 'cut_off'),
    business_days: request.form.has('business_days'),
    delay_days: typedNumber(request, 'delay_days'),
    minimum: typed(request, 'minimum'),
    reserve: percent === undefined && days === undefined ? null : { percent, days },
    hold: typed(request, 'hold'),
  };
  const change = async (): Promise<string> => {
    await setTerms(gateway, caller, mid, input);
    return `${settlementPath(mid)}?done=terms`;
  };
  return changed(change, (terms) => show(request, { terms }));
}

async function changeBankAccount(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller } = request;
  const { mid } = await accountOfPath(request);
  const names = ['holder', 'iban', 'account_number', 'bank_code', 'country'] as const;
  const input = Object.fromEntries(names.map((name) => [name, typed(request, name)]));
  const change = async (): Promise<string> => {
    await setBankAccount(gateway, caller, mid, { ...input, currency: typed(request, 'bank_currency')?.toUpperCase() });
    return `${settlementPath(mid)}?done=bank`;
  };
  return changed(change, (bank) => show(request, { bank }));
}

async function confirm(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller } = request;
  const { mid } = await accountOfPath(request);
  await confirmBankAccount(gateway, caller, mid, { currency: typed(request, 'currency') });
  return { redirect: `${settlementPath(mid)}?done=confirmed` };
}

const PATH = '/admin/accounts/:mid/settlement';
const form = { method: 'POST', scope: 'accounts', confirmFor: PATH } as const;

export const accountSettlementPages: readonly PanelRoute[] = [
  { method: 'GET', path: PATH, permission: 'settlements.view', scope: 'accounts', handle: (request) => show(request) },
  { ...form, permission: 'settlements.set_terms', path: `${PATH}/terms`, handle: changeTerms },
  { ...form, permission: 'settlements.set_terms', path: `${PATH}/bank-account`, handle: changeBankAccount },
  { ...form, permission: 'settlements.manage', path: `${PATH}/bank-account/confirm`, handle: confirm },
];
