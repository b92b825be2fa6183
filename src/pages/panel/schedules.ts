/** The page on schedules: their terms and their next charges. */
import type { ListedSchedule } from '../../core/context.ts';
import { listSchedules } from '../../core/schedules.ts';
import { html } from '../../lib/html.ts';
import { en } from './locales/en.ts';
import { badge, type Column, empty, table, time } from './parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from './route.ts';

const MOST = 100;
const text = en.schedules;

const columns: Column<ListedSchedule>[] = [
  { label: text.name, cell: ({ schedule }) => schedule.name },
  {
    label: text.state,
    cell: ({ schedule }) => (schedule.deletedAt === null ? badge(text.active, 'good') : badge(text.deleted)),
  },
  {
    label: text.interval,
    cell: ({ schedule: { intervalLength, intervalUnit, paymentsCount } }) =>
      `${intervalLength} ${intervalUnit} × ${paymentsCount}`,
  },
  { label: text.active, isNumber: true, cell: ({ counts }) => counts.active },
  { label: text.finished, isNumber: true, cell: ({ counts }) => counts.finished + counts.ended },
  { label: text.next, cell: ({ next: [first] }) => time(first?.nextAt ?? null) },
  {
    label: text.payments,
    cell: ({ next: [first] }) =>
      first ? html`<a href="/admin/payments/${first.firstPaymentId}">${text.firstPayment}</a>` : null,
  },
];

async function showList({ gateway, session }: PanelRequest): Promise<PanelAnswer> {
  const rows = await listSchedules(gateway, undefined, session.principal.mids, MOST);
  return {
    title: en.sections.schedules,
    body: html`<div class="head"><h1>${en.sections.schedules}</h1></div>
<div class="card flush">${rows.length > 0 ? table(en.sections.schedules, columns, rows) : empty(text.none, text.noneHint)}</div>`,
  };
}

export const schedulePages: readonly PanelRoute[] = [
  { method: 'GET', path: '/admin/schedules', permission: 'schedules.view', handle: showList },
];
