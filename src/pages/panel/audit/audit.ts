/** The page on the audit log: what operators changed, in sentences, newest first. */
import { findAccount } from '../../../core/accounts/accounts.ts';
import type { AuditRow, Gateway } from '../../../core/context.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { dayStart } from '../frame/filters.ts';
import { type Column, choiceField, empty, field, pager, table, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';

const PAGE_SIZE = 50;
const text = panelTexts.audit;

type Named = { readonly name: string; readonly href?: string };

/** What an entry is about: by name, and with a link where there is a page for it. */
async function subjectOf(gateway: Gateway, { action, mid, subject }: AuditRow): Promise<Named | undefined> {
  const [kind] = action.split('.');
  if (subject !== null && (kind === 'payments' || kind === 'chargebacks')) {
    const payment = await gateway.payments.findAnywhere(subject).catch(() => undefined);
    return { name: payment?.orderId ?? subject, href: `/admin/${kind}/${subject}` };
  }
  if (subject !== null && kind === 'operators') {
    const operator = await gateway.operators.find(subject).catch(() => undefined);
    return { name: operator?.name ?? subject };
  }
  if (subject !== null && kind === 'connections') return { name: subject, href: `/admin/connections/${subject}` };
  if (subject !== null && kind === 'prices') {
    const plan = await gateway.prices.find(subject, { mids: null }).catch(() => undefined);
    return { name: plan?.name ?? subject, href: `/admin/prices/${subject}` };
  }
  const account = mid === null ? undefined : await findAccount(gateway, mid);
  if (account) return { name: account.name, href: `/admin/accounts/${account.mid}` };
  return subject === null ? undefined : { name: subject };
}

const link = ({ name, href }: Named): Html =>
  href === undefined ? html`${name}` : html`<a href="${href}">${name}</a>`;

/** The sentence of an entry. */
function sentence({ action }: AuditRow, subject: Named | undefined): Html {
  const template = text.actions[action];
  if (template === undefined) return html`<code>${action}</code>${subject && html` ${link(subject)}`}`;
  const [before = '', after = ''] = template.split('{subject}');
  return template.includes('{subject}') ? html`${before}${subject ? link(subject) : '–'}${after}` : html`${before}`;
}

const json = (label: string, value: unknown): Html | false =>
  value !== null &&
  html`<p class="soft small">${label}</p><pre tabindex="0" aria-label="${label}"><code>${JSON.stringify(value, null, 1)}</code></pre>`;

async function showList({ gateway, session, query }: PanelRequest): Promise<PanelAnswer> {
  const before = /^\d{1,18}$/.test(query.cursor ?? '') ? BigInt(query.cursor as string) : undefined;
  const to = dayStart(query.to);
  const filter = {
    actor: query.actor,
    action: query.action,
    from: dayStart(query.from),
    to: to === undefined ? undefined : to + LIMITS.dayMs,
    mids: session.principal.mids,
  };
  const rows = await gateway.audit.list(filter, PAGE_SIZE + 1, before);
  const { items: shown, last } = keysetPage(rows, PAGE_SIZE);
  const subjects = new Map<bigint, Named | undefined>();
  for (const row of shown) subjects.set(row.seq, await subjectOf(gateway, row));
  const isFiltered = Object.keys(query).length > 0;
  const columns: Column<AuditRow>[] = [
    { label: text.seq, isNumber: true, cell: ({ seq }) => seq.toString() },
    { label: text.at, cell: ({ at }) => time(at) },
    {
      label: text.actor,
      cell: ({ actorName, address }) =>
        html`${actorName}${address && html`<br><span class="soft small">${address}</span>`}`,
    },
    { label: text.action, cell: (row) => sentence(row, subjects.get(row.seq)) },
    {
      label: text.change,
      cell: ({ before: old, after }) =>
        old || after
          ? html`<details><summary>${text.show}</summary>${json(text.before, old)}${json(text.after, after)}</details>`
          : null,
    },
  ];
  const actions = Object.entries(text.actions)
    .map(([action, template]): [string, string] => [action, template.replace(/[ :]*\{subject\}.*/, '')])
    .toSorted(([, a], [, b]) => a.localeCompare(b));
  return {
    title: panelTexts.sections.audit,
    body: html`<div class="head"><h1>${panelTexts.sections.audit}</h1></div>
<form class="filters" action="/admin/audit">${field({ name: 'actor', label: text.actor, value: query.actor })}${choiceField(
      { name: 'action', label: text.action, value: query.action },
      [['', panelTexts.payments.any], ...actions],
    )}${field({ name: 'from', label: text.from, value: query.from, type: 'date' })}${field({ name: 'to', label: text.to, value: query.to, type: 'date' })}<button>${panelTexts.payments.filter}</button>${isFiltered && html`<a class="button quiet" href="/admin/audit">${panelTexts.payments.clear}</a>`}</form>
<div class="card flush">${
      shown.length > 0
        ? table(panelTexts.sections.audit, columns, shown)
        : isFiltered
          ? empty(text.nothingFound, text.nothingFoundHint)
          : empty(text.none, text.noneHint)
    }${pager('/admin/audit', query, last?.seq.toString())}</div>`,
  };
}

export const auditPages: readonly PanelRoute[] = [
  { method: 'GET', path: '/admin/audit', permission: 'audit.view', scope: 'accounts', handle: showList },
];
