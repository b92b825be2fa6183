/** The pages on payouts: making one of approved settlements, one payout with its transfers, and the accounts they go from. */

import { payoutsCsv } from '../../../core/exports/settlements.ts';
import { isAuthor } from '../../../core/operators/principal.ts';
import { listPayoutAccounts, setPayoutAccount } from '../../../core/settlements/bank-accounts.ts';
import {
  decidePayout,
  findPayout,
  listPayouts,
  makePayout,
  type Payout,
  payoutFile,
  recordAllPaid,
  recordTransfer,
  type ShownPayout,
  type ShownTransfer,
} from '../../../core/settlements/payouts.ts';
import { listSettlements, type Settlement } from '../../../core/settlements/settlements.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { type Problem, Refusal } from '../../../rules/errors.ts';
import { PAYOUT_FORMATS, type PayoutState, sumOf, type TransferState } from '../../../rules/payouts.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { accountNames, downloadLink } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import {
  badge,
  type Column,
  choiceField,
  count,
  empty,
  facts,
  field,
  fill,
  idCursor,
  money,
  notice,
  pager,
  table,
  time,
} from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { ledgerTabs, PATHS } from '../ledger/parts.ts';
import { panelTexts } from '../locales/index.ts';
import { changed, errorsOf, settlementPath, typed } from './account.ts';
import { titleOf } from './settlements.ts';

const PAGE_SIZE = 25;
/** How many settlements or transfers a page has. */
const ROWS = 200;
const text = panelTexts.payouts;
const PAYOUT_TONES = { waiting: 'wait', approved: 'good', refused: 'bad' } as const satisfies Record<
  PayoutState,
  string
>;
const TRANSFER_TONES = {
  waiting: 'wait',
  in_transit: 'wait',
  paid: 'good',
  returned: 'bad',
  refused: 'bad',
} as const satisfies Record<TransferState, string>;

const may = ({ session }: PanelRequest, permission: 'settlements.manage' | 'settlements.set_terms'): boolean =>
  isAllowed(session.principal.role, permission);

const accountLink = (mid: string, names: ReadonlyMap<string, string>): Html =>
  html`<a href="${settlementPath(mid)}">${names.get(mid) ?? mid}</a>`;

/** The field of a settlement in the form; a payout refuses settlements by their ids. */
const fieldOf = (settlementId: string): string => `settlement_ids.${settlementId}`;

/** The form that makes a payout of the approved settlements of a currency. */
function makeForm(
  { session, form }: PanelRequest,
  names: ReadonlyMap<string, string>,
  currency: string,
  settlements: readonly Settlement[],
  problems: readonly Problem[],
): Html {
  const problemOf = ({ settlementId }: Settlement): string | undefined =>
    problems.find((one) => one.field === `settlement_ids[${settlementId}]`)?.sentence;
  const isChosen = ({ settlementId }: Settlement): boolean => problems.length === 0 || form.has(fieldOf(settlementId));
  const columns: Column<Settlement>[] = [
    {
      label: panelTexts.settlements.settlement,
      cell: (one) =>
        html`<label class="choice"><input type="checkbox" name="${fieldOf(one.settlementId)}" value="1"${isChosen(one) && html` checked`}><span>${titleOf(one)}</span></label>${problemOf(one) !== undefined && html`<p class="error">${problemOf(one)}</p>`}`,
    },
    { label: panelTexts.settlements.account, cell: ({ mid }) => accountLink(mid, names) },
    { label: text.amount, isNumber: true, cell: ({ payout }) => money(payout, currency) },
  ];
  const sum = sumOf(settlements.map(({ payout: amount }) => ({ amount })));
  return html`<form class="card flush" method="post" action="${PATHS.payouts}">${formToken(session)}<input type="hidden" name="currency" value="${currency}"><h2 class="inset">${fill(text.toPay, { currency })} <span class="amount">${money(sum, currency)}</span></h2>${table(fill(text.toPay, { currency }), columns, settlements)}<div class="inset end">${choiceField(
    { name: `format.${currency}`, label: text.format, value: form.get(`format.${currency}`) ?? 'pain.001' },
    PAYOUT_FORMATS.toReversed().map((format) => [format, text.formats[format]] as const),
  )}<p class="hint">${text.makeHint}</p><div class="actions"><button>${text.make}</button></div></div></form>`;
}

/** The accounts of the installation, and the form that sets one. */
async function payoutAccounts(request: PanelRequest, problems: readonly Problem[] | undefined): Promise<Html> {
  const { gateway, session, form } = request;
  const accounts = await listPayoutAccounts(gateway);
  const errorOf = errorsOf(problems ?? []);
  const shownOf = (name: string): string | undefined => (problems ? form.get(name) : undefined);
  const columns: Column<(typeof accounts)[number]>[] = [
    { label: text.currency, cell: ({ currency }) => currency },
    { label: text.holder, cell: ({ holder }) => html`<bdi>${holder}</bdi>` },
    { label: text.bankAccount, cell: ({ masked }) => html`<span class="mono">${masked}</span>` },
    { label: 'BIC', cell: ({ bic }) => bic },
    { label: text.changedAt, cell: ({ changedAt }) => time(changedAt) },
  ];
  const plain = html`autocomplete="off" spellcheck="false"`;
  return html`<section class="card flush" id="accounts"><h2 class="inset">${text.ownAccounts}</h2><p class="inset soft">${text.ownAccountsHint}</p>${
    accounts.length > 0 && table(text.ownAccounts, columns, accounts)
  }${
    may(request, 'settlements.set_terms') &&
    html`<details class="inset end"${problems && html` open`}><summary>${text.setOwnAccount}</summary><form method="post" action="${PATHS.payouts}/account">${formToken(session)}
${field({ name: 'currency', label: text.currency, value: shownOf('currency'), error: errorOf('currency'), attributes: html`required maxlength="3" size="5" autocomplete="off" autocapitalize="characters"` })}
${field({ name: 'holder', label: text.holder, value: shownOf('holder'), error: errorOf('holder'), attributes: html`required maxlength="70" autocomplete="off"` })}
${field({ name: 'iban', label: 'IBAN', error: errorOf('iban'), attributes: html`required ${plain}` })}
${field({ name: 'bic', label: 'BIC', value: shownOf('bic'), error: errorOf('bic'), attributes: html`maxlength="11" ${plain}` })}
<div class="actions"><button class="quiet">${text.setOwnAccount}</button></div></form></details>`
  }</section>`;
}

const payoutColumns = (): Column<Payout>[] => [
  {
    label: text.payout,
    cell: ({ payoutId, madeAt }) => html`<a href="${PATHS.payouts}/${payoutId}">${time(madeAt)}</a>`,
  },
  { label: text.sum, isNumber: true, cell: ({ controlSum, currency }) => money(controlSum, currency) },
  { label: text.format, cell: ({ format }) => text.formats[format] },
  { label: text.madeBy, cell: ({ authorName }) => authorName },
  { label: panelTexts.settlements.decidedBy, cell: ({ decidedBy }) => decidedBy },
  { label: panelTexts.settlements.state, cell: ({ state }) => badge(text.states[state], PAYOUT_TONES[state]) },
];

async function showPayouts(
  request: PanelRequest,
  refused: { payout?: readonly Problem[]; account?: readonly Problem[] } = {},
): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const names = await accountNames(request);
  const before = idCursor(query);
  const { items, last } = keysetPage(await listPayouts(gateway, PAGE_SIZE + 1, before), PAGE_SIZE);
  const approved = await listSettlements(gateway, session.principal, { state: 'approved' }, ROWS);
  const payable = Map.groupBy(
    approved.filter(({ payout }) => payout > 0n),
    ({ currency }) => currency,
  );
  const problems = refused.payout ?? [];
  const general = problems.filter(({ field: name }) => !name.startsWith('settlement_ids['));
  const done: Readonly<Record<string, string>> = { account: text.ownAccountSet };
  return {
    title: text.payouts,
    status: refused.payout || refused.account ? 400 : 200,
    body: html`${notice(query.done && done[query.done])}${problems.length > 0 && notice([text.notMade, ...general.map(({ sentence }) => sentence)].join(' '), 'bad')}<div class="head"><h1>${text.payouts}</h1><div class="actions">${downloadLink(`${PATHS.payouts}.csv`, {})}</div></div>
${ledgerTabs(request, 'payouts')}
<div class="head"><p class="soft">${text.payoutsHint}</p></div>
${
  may(request, 'settlements.manage') &&
  (payable.size > 0
    ? html`${[...payable].map(([currency, some]) => makeForm(request, names, currency, some, problems))}${approved.length === ROWS && html`<p class="soft">${fill(text.newestOnly, { count: String(ROWS) })}</p>`}`
    : html`<p class="soft">${text.nothingToPay} <a href="${PATHS.settlements}?state=draft">${text.toApprove}</a></p>`)
}
<section class="card flush"><h2 class="inset">${text.payouts}</h2>${
      items.length > 0 ? table(text.payouts, payoutColumns(), items) : empty(text.noPayouts, text.noPayoutsHint)
    }${pager(PATHS.payouts, query, last?.payoutId)}</section>
${await payoutAccounts(request, refused.account)}`,
  };
}

async function make(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, form } = request;
  const ids = [...form.keys()]
    .filter((name) => name.startsWith(fieldOf('')))
    .map((name) => name.slice(fieldOf('').length));
  try {
    const { payoutId } = await makePayout(gateway, caller, {
      settlement_ids: ids,
      format: typed(request, `format.${typed(request, 'currency')}`),
    });
    return { redirect: `${PATHS.payouts}/${payoutId}?done=made` };
  } catch (error) {
    if (error instanceof Refusal && ['invalidData', 'payoutNotPossible'].includes(error.error))
      return showPayouts(request, { payout: error.problems });
    throw error;
  }
}

async function setAccount(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller } = request;
  const input = Object.fromEntries((['holder', 'iban', 'bic'] as const).map((name) => [name, typed(request, name)]));
  const change = async (): Promise<string> => {
    await setPayoutAccount(gateway, caller, { ...input, currency: typed(request, 'currency')?.toUpperCase() });
    return `${PATHS.payouts}?done=account`;
  };
  return changed(change, (account) => showPayouts(request, { account }));
}

/** What can be recorded of a transfer. */
function recording({ session }: PanelRequest, { payoutId, transferId, state }: ShownTransfer): Html | false {
  if (state !== 'in_transit' && state !== 'paid') return false;
  const path = `${PATHS.payouts}/${payoutId}/transfers/${transferId}`;
  const form = (to: string, content: Html): Html =>
    html`<form method="post" action="${path}">${formToken(session)}<input type="hidden" name="state" value="${to}">${content}</form>`;
  return html`${state === 'in_transit' && form('paid', html`<button class="quiet">${text.wasPaid}</button>`)}<details><summary>${text.wasReturned}</summary>${form(
    'returned',
    html`<label>${text.reason} <input name="reason" autocomplete="off"></label> <button class="quiet">${text.wasReturned}</button>`,
  )}</details>`;
}

function transferColumns(
  request: PanelRequest,
  { state: payoutState }: Payout,
  names: ReadonlyMap<string, string>,
): Column<ShownTransfer>[] {
  return [
    { label: panelTexts.settlements.account, cell: ({ mid }) => accountLink(mid, names) },
    {
      label: text.holder,
      cell: ({ holder, holderInFile }) =>
        html`<bdi>${holder}</bdi>${holderInFile !== holder && html`<p class="soft small">${fill(text.inFile, { name: holderInFile ?? '' })}</p>`}`,
    },
    {
      label: panelTexts.settlements.settlement,
      cell: ({ settlementId }) =>
        html`<a class="mono" href="${PATHS.settlements}/${settlementId}">${settlementId.slice(-12)}</a>`,
    },
    { label: text.amount, isNumber: true, cell: ({ amount, currency }) => money(amount, currency) },
    {
      label: panelTexts.settlements.state,
      cell: ({ state, reason, paidAt, returnedAt }) =>
        html`${badge(text.transferStates[state], TRANSFER_TONES[state])}${(returnedAt ?? paidAt) !== null && html` ${time(returnedAt ?? paidAt)}`}${reason !== null && html`<p class="soft small"><bdi>${reason}</bdi></p>`}`,
    },
    ...(payoutState === 'approved' && may(request, 'settlements.manage')
      ? [{ label: text.record, cell: (transfer: ShownTransfer) => recording(request, transfer) || null }]
      : []),
  ];
}

/** What can be done with a payout as a whole. */
function actions(request: PanelRequest, payout: ShownPayout): Html | false {
  const { session, caller } = request;
  const path = `${PATHS.payouts}/${payout.payoutId}`;
  const button = (name: string, label: string, kind: string): Html =>
    html`<form method="post" action="${path}/${name}">${formToken(session)}<button class="${kind} whole">${label}</button></form>`;
  if (!may(request, 'settlements.manage')) return false;
  if (payout.state === 'approved')
    return html`<div class="actions"><a class="button" href="${path}/file" download>${text.download}</a>${
      payout.transfers.some(({ state }) => state === 'in_transit') && button('paid', text.allPaid, 'quiet')
    }</div>`;
  if (payout.state !== 'waiting') return false;
  if (isAuthor(payout, caller)) return html`<p class="soft">${text.ownPayout}</p>`;
  return html`<div class="actions">${button('approve', panelTexts.settlements.approve, '')}${button('refuse', text.refuse, 'quiet')}</div>`;
}

async function showPayout(request: PanelRequest, problems: readonly Problem[] = []): Promise<PanelAnswer> {
  const { gateway, query, params } = request;
  const payout = await findPayout(gateway, params.payoutId ?? '');
  const { payoutId, currency, controlSum, sha256, format, state, authorName, madeAt, decidedBy, decidedAt } = payout;
  const names = await accountNames(request);
  const after = query.cursor ?? '';
  const rest = payout.transfers.filter(({ transferId }) => transferId > after).slice(0, ROWS + 1);
  const { items, last } = keysetPage(rest, ROWS);
  const done: Readonly<Record<string, string>> = {
    made: text.made,
    approved: text.payoutApproved,
    refused: text.payoutRefused,
    recorded: text.recorded,
  };
  const title = `${text.payout}, ${money(controlSum, currency)}`;
  return {
    title,
    status: problems.length > 0 ? 400 : 200,
    body: html`${notice(query.done && done[query.done])}${problems.length > 0 && notice([...new Set(problems.map(({ sentence }) => sentence))].join(' '), 'bad')}<div class="head"><h1>${title} ${badge(text.states[state], PAYOUT_TONES[state])}</h1>${actions(request, payout)}</div>
${ledgerTabs(request, 'payouts')}
<section class="card">${facts([
      [text.sum, money(controlSum, currency)],
      [text.transfers, count(payout.transfers.length)],
      [text.format, text.formats[format]],
      [text.digest, html`<span class="mono small">${sha256}</span>`],
      [text.madeBy, html`${authorName}, ${time(madeAt)}`],
      [panelTexts.settlements.decidedBy, decidedBy === null ? undefined : html`${decidedBy}, ${time(decidedAt)}`],
    ])}</section>
<section class="card flush"><h2 class="inset">${text.transfers}</h2>${table(text.transfers, transferColumns(request, payout, names), items)}${pager(`${PATHS.payouts}/${payoutId}`, query, last?.transferId)}</section>`,
  };
}

const decide =
  (state: 'approved' | 'refused') =>
  async (request: PanelRequest): Promise<PanelAnswer> => {
    const { gateway, caller, params } = request;
    try {
      const { payoutId } = await decidePayout(gateway, caller, params.payoutId ?? '', state);
      return { redirect: `${PATHS.payouts}/${payoutId}?done=${state}` };
    } catch (error) {
      if (error instanceof Refusal && error.error === 'payoutNotPossible') return showPayout(request, error.problems);
      throw error;
    }
  };

async function record(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, params } = request;
  const { payoutId = '', transferId = '' } = params;
  const input = { state: typed(request, 'state'), reason: typed(request, 'reason') };
  await recordTransfer(gateway, caller, payoutId, transferId, input);
  return { redirect: `${PATHS.payouts}/${payoutId}?done=recorded` };
}

async function recordAll({ gateway, caller, params }: PanelRequest): Promise<PanelAnswer> {
  const { payoutId } = await recordAllPaid(gateway, caller, params.payoutId ?? '');
  return { redirect: `${PATHS.payouts}/${payoutId}?done=recorded` };
}

async function file({ gateway, params }: PanelRequest): Promise<PanelAnswer> {
  const { format, text: content } = await payoutFile(gateway, params.payoutId ?? '');
  const [mediaType, ending] = format === 'csv' ? ['text/csv', 'csv'] : ['application/xml', 'xml'];
  return { file: { name: `payout-${params.payoutId}.${ending}`, mediaType, bytes: Buffer.from(content) } };
}

const page = { method: 'GET', permission: 'settlements.view', scope: 'installation' } as const;
const form = { method: 'POST', permission: 'settlements.manage', scope: 'installation' } as const;
const ONE = `${PATHS.payouts}/:payoutId`;

export const payoutPages: readonly PanelRoute[] = [
  { ...page, path: PATHS.payouts, handle: (request) => showPayouts(request) },
  {
    ...page,
    path: `${PATHS.payouts}.csv`,
    isDownload: true,
    handle: async ({ gateway }) => ({
      download: await payoutsCsv(gateway, (limit, before) => listPayouts(gateway, limit, before)),
    }),
  },
  { ...page, path: ONE, handle: (request) => showPayout(request) },
  { ...page, permission: 'settlements.manage', path: `${ONE}/file`, isDownload: true, handle: file },
  { ...form, path: PATHS.payouts, confirmFor: PATHS.payouts, handle: make },
  {
    ...form,
    permission: 'settlements.set_terms',
    path: `${PATHS.payouts}/account`,
    confirmFor: PATHS.payouts,
    handle: setAccount,
  },
  { ...form, path: `${ONE}/approve`, confirmFor: ONE, handle: decide('approved') },
  { ...form, path: `${ONE}/refuse`, confirmFor: ONE, handle: decide('refused') },
  { ...form, path: `${ONE}/paid`, confirmFor: ONE, handle: recordAll },
  { ...form, path: `${ONE}/transfers/:transferId`, confirmFor: ONE, handle: record },
];
