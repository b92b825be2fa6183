/** The pages on payment links: the list with the form for a new one, and one link with its address and its QR code. */

import encodeQR from 'qr';
import { findAccount } from '../../../core/accounts/accounts.ts';
import type { PaidLink } from '../../../core/context.ts';
import { boundsOf } from '../../../core/links/begin.ts';
import { linkUrl, listLinks, makeLink, requireLink, switchLink } from '../../../core/links/links.ts';
import { linkState, usesLeft } from '../../../core/links/state.ts';
import { sees } from '../../../core/operators/principal.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { typedAmount } from '../../../lib/money/typed-amount.ts';
import { Html, html } from '../../../lib/text/html.ts';
import { exponentOf } from '../../../rules/currencies.ts';
import { type Problem, Refusal } from '../../../rules/errors.ts';
import { ASKABLE, LINK_LIMITS } from '../../../rules/links.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { accountNames } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import {
  badge,
  type Column,
  choiceField,
  copyable,
  count,
  empty,
  facts,
  field,
  idCursor,
  money,
  notice,
  pager,
  table,
  time,
} from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { printedLink } from './print.ts';

const PATH = '/admin/links';
const PAGE_SIZE = 25;
const text = panelTexts.links;

const pathOf = ({ linkId }: Pick<PaidLink, 'linkId'>): string => `${PATH}/${linkId}`;

function stateBadge({ gateway }: PanelRequest, link: PaidLink): Html {
  const state = linkState(link, gateway.clock.now(link.mid));
  return badge(text.states[state], state === 'active' || state === 'used_up' ? 'good' : '');
}

export function linkAmount(link: PaidLink): string {
  const bounds = boundsOf(link);
  return bounds
    ? `${money(bounds.least, link.currency)} – ${money(bounds.most, link.currency)}`
    : money(link.amount ?? 0n, link.currency);
}

const columns = (request: PanelRequest): Column<PaidLink>[] => [
  { label: text.title, cell: (link) => html`<a href="${pathOf(link)}"><bdi>${link.title}</bdi></a>` },
  { label: text.state, cell: (link) => stateBadge(request, link) },
  { label: text.amount, isNumber: true, cell: linkAmount },
  { label: text.payments, isNumber: true, cell: ({ payments }) => count(payments) },
  { label: text.captured, isNumber: true, cell: ({ captured, currency }) => money(captured, currency) },
  { label: text.created, cell: ({ createdAt }) => time(createdAt) },
];

/** The account of a form, which is chosen where there are several. */
export function accountField(accounts: ReadonlyMap<string, string>, chosen: string | undefined, label: string): Html {
  const [[only = ''] = []] = accounts;
  return accounts.size === 1
    ? html`<input type="hidden" name="mid" value="${only}">`
    : choiceField({ name: 'mid', label, value: chosen }, [...accounts]);
}

/** The form for a new link: what is needed is open, the rest is below. */
function newLink(
  { session, form }: PanelRequest,
  accounts: ReadonlyMap<string, string>,
  currency: string,
  problems: readonly Problem[],
): Html {
  const errorOf = (name: string): string | undefined => problems.find((problem) => problem.field === name)?.sentence;
  const plain = (name: string, label: string, attributes: Html, hint?: string): Html =>
    field({ name, label, value: form.get(name), hint, error: errorOf(name), attributes });
  const decimal = html`inputmode="decimal" autocomplete="off"`;
  const isOpen = ['min_amount', 'max_amount', 'description', 'valid_until', 'uses_count'].some(
    (name) => (form.get(name) ?? '') !== '' || errorOf(name) !== undefined,
  );
  return html`<section class="card narrow"><h2>${text.make}</h2><form method="post" action="${PATH}">${formToken(session)}${accountField(accounts, form.get('mid'), text.account)}${plain(
    'title',
    text.title,
    html`required maxlength="${LINK_LIMITS.title}" autocomplete="off"`,
    text.titleHint,
  )}${plain('amount', text.amount, decimal)}${field({
    name: 'currency',
    label: text.currency,
    value: form.get('currency') ?? currency,
    error: errorOf('currency'),
    attributes: html`required maxlength="3" size="5" autocomplete="off" autocapitalize="characters"`,
  })}${choiceField({ name: 'uses', label: text.uses, value: form.get('uses') ?? '1', error: errorOf('uses') }, [
    ['1', text.once],
    ['', text.any],
  ])}<details class="field"${isOpen && html` open`}><summary>${text.more}</summary>${plain('min_amount', `${text.least} (${text.open})`, decimal)}${plain('max_amount', `${text.most} (${text.open})`, decimal)}${plain(
    'uses_count',
    text.times,
    html`inputmode="numeric" autocomplete="off"`,
  )}${plain('description', text.description, html`maxlength="${LINK_LIMITS.description}" autocomplete="off"`)}${field({
    name: 'valid_until',
    label: text.validUntil,
    type: 'date',
    value: form.get('valid_until'),
    hint: text.validUntilHint,
    error: errorOf('valid_until'),
  })}<fieldset class="field bare"><legend>${text.ask}</legend>${ASKABLE.map(
    (name) =>
      html`<label class="choice"><input type="checkbox" name="ask.${name}" value="1"${form.has(`ask.${name}`) && html` checked`}><span>${text.asked[name]}</span></label>`,
  )}</fieldset><label class="choice field"><input type="checkbox" name="authorise" value="true"${form.has('authorise') && html` checked`}><span>${text.authorise}</span></label></details><div class="actions"><button>${text.make}</button></div></form></section>`;
}

async function showList(request: PanelRequest, problems: readonly Problem[] = []): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const { principal } = session;
  const before = idCursor(query);
  const [rows, accounts] = await Promise.all([
    listLinks(gateway, principal, { before, limit: PAGE_SIZE + 1 }),
    accountNames(request),
  ]);
  const { items, last } = keysetPage(rows, PAGE_SIZE);
  const mayMake = isAllowed(principal.role, 'links.manage') && accounts.size > 0;
  return {
    title: panelTexts.sections.links,
    status: problems.length > 0 ? 400 : 200,
    body: html`<div class="head"><h1>${panelTexts.sections.links}</h1></div>
${mayMake && newLink(request, accounts, items[0]?.currency ?? 'EUR', problems)}
<div class="card flush">${items.length > 0 ? table(panelTexts.sections.links, columns(request), items) : empty(text.none, accounts.size > 0 ? text.noneHint : text.noAccount)}${pager(PATH, query, last?.linkId)}</div>`,
  };
}

async function make(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, form } = request;
  const mid = form.get('mid') ?? '';
  const account = isUuid(mid) && sees(session.principal, mid) ? await findAccount(gateway, mid) : undefined;
  if (!account) throw new Refusal('noSuchAccount');
  const currency = (form.get('currency') ?? '').trim().toUpperCase();
  const amountOf = (name: string): string => typedAmount(form.get(name) ?? '', exponentOf(currency));
  const day = form.get('valid_until') ?? '';
  try {
    const link = await makeLink(
      gateway,
      account,
      {
        title: form.get('title'),
        currency,
        amount: amountOf('amount'),
        min_amount: amountOf('min_amount'),
        max_amount: amountOf('max_amount'),
        description: form.get('description'),
        uses: form.get('uses_count')?.trim() || form.get('uses') || null,
        valid_until: day === '' ? '' : `${day}T23:59:59Z`,
        ask: ASKABLE.filter((name) => form.has(`ask.${name}`)),
        authorise: form.has('authorise'),
      },
      caller,
    );
    return { redirect: `${pathOf(link)}?made=1` };
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'invalidData') throw error;
    const problems = error.problems.map((problem) =>
      problem.field === 'uses' ? { ...problem, field: 'uses_count' } : problem,
    );
    return showList(request, problems);
  }
}

/** The HTML of a button for the merchant's website. */
const buttonSnippet = (url: string): string =>
  String(
    html`<a href="${url}" style="display:inline-block;padding:.7em 1.4em;border-radius:.5em;background:#0f5c4c;color:#fff;font:600 1rem system-ui,sans-serif;text-decoration:none">${text.buttonText}</a>`,
  );

async function show(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, query, params } = request;
  const link = await requireLink(gateway, session.principal, params.linkId ?? '');
  const url = linkUrl(gateway, link);
  const account = await findAccount(gateway, link.mid);
  const left = usesLeft(link);
  const switching = link.isActive ? 'off' : 'on';
  return {
    title: link.title,
    body: html`${notice(query.made && text.made)}<div class="head"><h1><bdi>${link.title}</bdi></h1>${stateBadge(request, link)}<div class="actions"><a class="button quiet" href="${PATH}">${panelTexts.sections.links}</a></div></div>
<section class="card">${facts([
      [text.address, copyable(url)],
      [text.amount, linkAmount(link)],
      [text.description, link.description || undefined],
      [text.account, account?.name],
      [text.left, left === null ? text.any : count(left)],
      [text.validUntil, link.validUntil === null ? undefined : time(link.validUntil)],
      [text.payments, count(link.payments)],
      [text.captured, money(link.captured, link.currency)],
    ])}</section>
<section class="card"><h2>${text.qr}</h2><div class="qr">${new Html(encodeQR(url, 'svg', { border: 2 }))}</div><div class="actions"><a class="button" href="${pathOf(link)}/print" target="_blank" rel="noopener">${text.print}</a><a class="button quiet" href="/l/${link.code}/qr.svg" download>SVG</a><a class="button quiet" href="/l/${link.code}/qr.png" download>PNG</a></div></section>
<section class="card"><h2>${text.button}</h2><p class="soft">${text.buttonHint}</p><pre class="wrap" data-copy="${panelTexts.copy}" data-copied="${panelTexts.copied}">${buttonSnippet(url)}</pre></section>
${
  isAllowed(session.principal.role, 'links.manage') &&
  html`<section class="card">${link.isActive && html`<p class="soft">${text.switchOffHint}</p>`}<form method="post" action="${pathOf(link)}/${switching}">${formToken(session)}<div class="actions"><button class="quiet">${link.isActive ? text.switchOff : text.switchOn}</button></div></form></section>`
}`,
  };
}

async function print({ gateway, session, params }: PanelRequest): Promise<PanelAnswer> {
  const link = await requireLink(gateway, session.principal, params.linkId ?? '');
  const account = await findAccount(gateway, link.mid);
  if (!account) throw new Refusal('noSuchLink');
  return printedLink(gateway, account, link, linkAmount(link));
}

const change = (path: string, isActive: boolean): PanelRoute => ({
  method: 'POST',
  path: `${PATH}/:linkId/${path}`,
  permission: 'links.manage',
  scope: 'accounts',
  unconfirmed: 'A link can only bring money to its account.',
  async handle({ gateway, session, caller, params }) {
    const link = await switchLink(gateway, session.principal, caller, params.linkId ?? '', isActive);
    return { redirect: pathOf(link) };
  },
});

const view = (path: string, handle: PanelRoute['handle']): PanelRoute => ({
  method: 'GET',
  path: PATH + path,
  permission: 'links.view',
  scope: 'accounts',
  handle,
});

export const linkPages: readonly PanelRoute[] = [
  view('', (request) => showList(request)),
  {
    method: 'POST',
    path: PATH,
    permission: 'links.manage',
    scope: 'accounts',
    unconfirmed: 'A link can only bring money to its account.',
    handle: make,
  },
  view('/:linkId', show),
  view('/:linkId/print', print),
  change('off', false),
  change('on', true),
];
