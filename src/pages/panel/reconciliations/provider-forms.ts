/** What is entered about providers: their payments at the bank, and how many days they take to pay. */
import { listProviderTerms, setProviderTerms } from '../../../core/reconciliations/three-way.ts';
import {
  listProviderPayments,
  listProviders,
  type ProviderPayment,
  recordProviderPayment,
} from '../../../core/settlements/provider-payments.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import type { Problem } from '../../../rules/errors.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { PROVIDER_DAYS, PROVIDER_DAYS_MOST } from '../../../rules/three-way.ts';
import { providerName } from '../connections/provider-name.ts';
import { formToken } from '../frame/layout.ts';
import { type Column, choiceField, count, empty, facts, field, fill, money, table } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest } from '../frame/route.ts';
import { PATHS } from '../ledger/parts.ts';
import { panelTexts } from '../locales/index.ts';
import { changed, errorsOf, typed, typedNumber } from '../settlements/account.ts';

const text = panelTexts.threeWay;
const SHOWN_PAYMENTS = 10;

/** What the forms of the page refused. */
export interface Refused {
  payment?: readonly Problem[];
  terms?: readonly Problem[];
}

type Again = (request: PanelRequest, refused: Refused) => Promise<PanelAnswer>;

const paymentColumns = (): Column<ProviderPayment>[] => [
  { label: text.receivedOn, cell: ({ receivedOn }) => receivedOn },
  { label: text.provider, cell: ({ connector }) => providerName(connector) },
  { label: text.amount, isNumber: true, cell: ({ amount, currency }) => money(amount, currency) },
  { label: text.reference, cell: ({ reference }) => html`<bdi>${reference}</bdi>` },
];

function paymentForm(
  { session, form }: PanelRequest,
  providers: readonly (readonly [string, string])[],
  problems: readonly Problem[],
): Html {
  const errorOf = errorsOf(problems);
  const value = (name: string): string | undefined => form.get(name) ?? undefined;
  return html`<details class="card narrow"${problems.length > 0 && html` open`}><summary>${text.record}</summary><form method="post" action="${PATHS.threeWay}/payments">${formToken(session)}
${choiceField({ name: 'connector', label: text.provider, value: value('connector'), error: errorOf('connector') }, providers)}
${field({ name: 'currency', label: panelTexts.payouts.currency, value: value('currency'), error: errorOf('currency'), attributes: html`required maxlength="3" size="5" autocomplete="off" autocapitalize="characters"` })}
${field({ name: 'amount', label: text.amount, value: value('amount'), error: errorOf('amount'), attributes: html`required inputmode="decimal" autocomplete="off"` })}
${field({ name: 'reference', label: text.reference, value: value('reference'), hint: text.referenceHint, error: errorOf('reference'), attributes: html`required autocomplete="off"` })}
${field({ name: 'received_on', label: text.receivedOn, type: 'date', value: value('received_on'), error: errorOf('received_on'), attributes: html`required` })}
<div class="actions"><button>${text.record}</button></div></form></details>`;
}

function termsForm(
  { session, form }: PanelRequest,
  providers: readonly (readonly [string, string])[],
  problems: readonly Problem[],
): Html {
  const errorOf = errorsOf(problems);
  return html`<form method="post" action="${PATHS.threeWay}/terms">${formToken(session)}
${choiceField({ name: 'provider', label: text.provider, value: form.get('provider'), error: errorOf('connector') }, providers)}
${field({ name: 'days', label: text.days, value: form.get('days'), error: errorOf('days'), type: 'number', attributes: html`required min="0" max="${PROVIDER_DAYS_MOST}"` })}
<div class="actions"><button>${text.setTerms}</button></div></form>`;
}

/** The cards, with the forms for those who may use them. */
export async function providerCards(request: PanelRequest, { payment = [], terms = [] }: Refused): Promise<Html> {
  const { gateway, session } = request;
  const may = (permission: Parameters<typeof isAllowed>[1]): boolean => isAllowed(session.principal.role, permission);
  const [payments, set, known] = await Promise.all([
    may('settlements.view') ? listProviderPayments(gateway, SHOWN_PAYMENTS) : [],
    listProviderTerms(gateway),
    listProviders(gateway),
  ]);
  const providers = known.map((connector) => [connector, providerName(connector)] as const);
  return html`${
    may('settlements.view') &&
    html`<section class="card flush"><h2 class="inset">${text.payments}</h2>${
      payments.length > 0
        ? table(text.payments, paymentColumns(), payments)
        : empty(text.noPayments, text.noPaymentsHint)
    }</section>`
  }<div class="columns even">${may('settlements.manage') && paymentForm(request, providers, payment)}
<section class="card narrow"><h2>${text.terms}</h2><p class="soft">${fill(text.termsHint, { days: String(PROVIDER_DAYS) })}</p>${
    set.length > 0 &&
    facts(set.map(({ connector, days }) => [providerName(connector), fill(text.afterDays, { days: count(days) })]))
  }${may('settlements.set_terms') && termsForm(request, providers, terms)}</section></div>`;
}

export const record =
  (again: Again) =>
  (request: PanelRequest): Promise<PanelAnswer> => {
    const { gateway, caller } = request;
    const input = {
      connector: typed(request, 'connector'),
      currency: typed(request, 'currency')?.toUpperCase(),
      amount: typed(request, 'amount'),
      reference: typed(request, 'reference'),
      received_on: typed(request, 'received_on'),
    };
    const change = async (): Promise<string> => {
      const { isNew } = await recordProviderPayment(gateway, caller, input);
      return `${PATHS.threeWay}?done=${isNew ? 'recorded' : 'known'}`;
    };
    return changed(change, (problems) => again(request, { payment: problems }));
  };

export const changeTerms =
  (again: Again) =>
  (request: PanelRequest): Promise<PanelAnswer> => {
    const { gateway, caller } = request;
    const input = { connector: typed(request, 'provider'), days: typedNumber(request, 'days') };
    const change = async (): Promise<string> => {
      await setProviderTerms(gateway, caller, input);
      return `${PATHS.threeWay}?done=terms`;
    };
    return changed(change, (problems) => again(request, { terms: problems }));
  };
