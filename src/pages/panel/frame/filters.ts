/** What the filters of several pages share: days, the accounts to choose from, and the download of what they show. */
import { listAccounts } from '../../../core/accounts/accounts.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { utcDay } from '../../../lib/time/day.ts';
import { panelTexts } from '../locales/index.ts';
import { withQuery } from './parts.ts';
import type { PanelRequest } from './route.ts';

/** How many accounts a filter offers. */
const MOST_ACCOUNTS = 200;

/** The day after it is still a date of the database. */
const LATEST = Date.UTC(9999, 0, 1);

/** The start of a day in UTC, from an input of the type `date`. */
export function dayStart(day: string | undefined): number | undefined {
  const ms = day !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  // Date.parse reads February 30 as a day in March.
  return ms >= 0 && ms <= LATEST && utcDay(ms) === day ? ms : undefined;
}

/** The accounts that the operator may choose from, by id. */
export async function accountNames({
  gateway,
  session,
}: Pick<PanelRequest, 'gateway' | 'session'>): Promise<Map<string, string>> {
  const accounts = await listAccounts(gateway, MOST_ACCOUNTS, undefined, session.principal.mids);
  return new Map(accounts.map(({ mid, name }) => [mid, name]));
}

/** The link to the file of what a page shows; a file has no pages. */
export function downloadLink(path: string, { cursor: _cursor, ...query }: PanelRequest['query']): Html {
  return exportLink(withQuery(path, query));
}

/** A link to a file; the script shows how much has arrived. */
export const exportLink = (href: string): Html =>
  html`<span class="export"><a class="button quiet" href="${href}" data-export data-progress="${panelTexts.exported}" data-progress-of="${panelTexts.exportedOf}" data-done="${panelTexts.exportDone}" data-failed="${panelTexts.exportBrokeOff}">${panelTexts.downloadCsv}</a><output class="soft small" hidden></output></span>`;
