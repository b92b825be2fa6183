/** The filters that an operator saved for the list of payments: shows, saves and deletes them. */
import type { SavedFilter } from '../../../core/context.ts';
import { deleteFilter, saveFilter } from '../../../core/operators/saved-filters.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { Refusal } from '../../../rules/errors.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { formToken } from '../frame/layout.ts';
import { field, pills, withQuery } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';

const LIST = '/admin/payments';
const text = panelTexts.payments.saved;

/** The filters of the list, in the order of the form. */
export const FILTER_NAMES = [
  ...['q', 'order_id', 'status', 'mid', 'from', 'to', 'amount_from', 'amount_to', 'currency'],
  ...['attention', 'brand', 'network', 'country', 'connection_id', 'channel_id'],
] as const;

/** The filters of a query, without a page and without parameters that mean nothing. */
export const filtersOf = (query: PanelRequest['query']): Record<string, string> =>
  Object.fromEntries(FILTER_NAMES.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])));

const queryText = (query: PanelRequest['query']): string => new URLSearchParams(filtersOf(query)).toString();

/** The saved filters as tabs above the list, and the form that saves the present ones. */
export function savedFilters({ session, query }: PanelRequest, saved: readonly SavedFilter[], error?: string): Html {
  const current = queryText(query);
  const deletion = ({ name }: SavedFilter): Html =>
    html`<form method="post" action="${LIST}/filters/delete">${formToken(session)}<input type="hidden" name="name" value="${name}"><input type="hidden" name="query" value="${current}"><button class="mini" aria-label="${text.delete} ${name}" title="${text.delete}">×</button></form>`;
  const mayBeSaved = error !== undefined || (current !== '' && saved.every((one) => one.query !== current));
  const form = html`<details class="save"${error !== undefined && html` open`}><summary class="button quiet">${text.save}</summary><form class="card" method="post" action="${LIST}/filters">${formToken(session)}<input type="hidden" name="query" value="${current}">${field(
    {
      name: 'name',
      label: text.name,
      error,
      attributes: html`required maxlength="${LIMITS.savedFilterNameLength}" autocomplete="off"`,
    },
  )}<div class="actions"><button>${text.save}</button></div></form></details>`;
  if (saved.length === 0 && !mayBeSaved) return html``;
  return html`<div class="saved">${
    saved.length > 0 &&
    pills(text.title, [
      { href: LIST, label: text.all, isActive: current === '' },
      ...saved.map((one) => ({
        href: `${LIST}?${one.query}`,
        label: one.name,
        isActive: one.query === current,
        after: deletion(one),
      })),
    ])
  }${mayBeSaved && form}</div>`;
}

/** The query of a submitted form, as the list gets it. */
export const submittedQuery = ({ form }: PanelRequest): Record<string, string> =>
  filtersOf(Object.fromEntries([...new URLSearchParams(form.get('query') ?? '')].filter(([, value]) => value !== '')));

/** `showList` shows the list again when a name is refused. */
export const savedFilterPages = (
  showList: (request: PanelRequest, error?: string) => Promise<PanelAnswer>,
): readonly PanelRoute[] => [
  {
    method: 'POST',
    path: `${LIST}/filters`,
    permission: 'payments.view',
    scope: 'accounts',
    unconfirmed: 'It changes the own filters only.',
    async handle(request) {
      const { gateway, session, caller, form } = request;
      const query = submittedQuery(request);
      try {
        await saveFilter(gateway, session, caller, { name: form.get('name') ?? '', query: queryText(query) });
      } catch (error) {
        if (!(error instanceof Refusal) || error.error !== 'invalidData') throw error;
        return showList({ ...request, query }, error.problems[0]?.sentence);
      }
      return { redirect: withQuery(LIST, query) };
    },
  },
  {
    method: 'POST',
    path: `${LIST}/filters/delete`,
    permission: 'payments.view',
    scope: 'accounts',
    unconfirmed: 'It changes the own filters only.',
    async handle(request) {
      const { gateway, session, caller, form } = request;
      await deleteFilter(gateway, session, caller, form.get('name') ?? '');
      return { redirect: withQuery(LIST, submittedQuery(request)) };
    },
  },
];
