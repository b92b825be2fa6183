/** The page on the audit log: what operators changed, newest first. */
import type { AuditRow } from '../../core/context.ts';
import { html } from '../../lib/html.ts';
import { keysetPage } from '../../lib/keyset-page.ts';
import { en } from './locales/en.ts';
import { type Column, empty, field, pager, table, time } from './parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from './route.ts';

const PAGE_SIZE = 50;
const text = en.audit;

const columns: Column<AuditRow>[] = [
  { label: text.seq, isNumber: true, cell: ({ seq }) => seq.toString() },
  { label: text.at, cell: ({ at }) => time(at) },
  {
    label: text.actor,
    cell: ({ actorName, address }) =>
      html`${actorName}${address && html`<br><span class="soft small">${address}</span>`}`,
  },
  { label: text.action, cell: ({ action }) => html`<span class="mono">${action}</span>` },
  {
    label: text.subject,
    cell: ({ mid, subject }) =>
      html`${subject && html`<span class="mono">${subject}</span><br>`}${mid && html`<a class="mono" href="/admin/accounts/${mid}">${mid}</a>`}`,
  },
  {
    label: text.change,
    cell: ({ before, after }) =>
      before || after
        ? html`<details><summary>${text.show}</summary>${before && html`<pre tabindex="0">${JSON.stringify(before, null, 1)}</pre>`}${after && html`<pre tabindex="0">${JSON.stringify(after, null, 1)}</pre>`}</details>`
        : null,
  },
];

async function showList({ gateway, session, query }: PanelRequest): Promise<PanelAnswer> {
  const before = /^\d{1,18}$/.test(query.cursor ?? '') ? BigInt(query.cursor as string) : undefined;
  const filter = { actor: query.actor, action: query.action, mids: session.principal.mids };
  const rows = await gateway.audit.list(filter, PAGE_SIZE + 1, before);
  const { items: shown, last } = keysetPage(rows, PAGE_SIZE);
  return {
    title: en.sections.audit,
    body: html`<div class="head"><h1>${en.sections.audit}</h1></div>
<form class="filters" action="/admin/audit">${field({ name: 'actor', label: text.actor, value: query.actor })}${field({ name: 'action', label: text.action, value: query.action })}<button>${en.payments.filter}</button></form>
<div class="card flush">${shown.length > 0 ? table(en.sections.audit, columns, shown) : empty(text.none, text.noneHint)}${pager(
      '/admin/audit',
      query,
      last?.seq.toString(),
    )}</div>`,
  };
}

export const auditPages: readonly PanelRoute[] = [
  { method: 'GET', path: '/admin/audit', permission: 'audit.view', handle: showList },
];
