/** The page on the calendar of settlements: the holidays of the installation, one in each line of the form. */
import { type Holiday, listHolidays, setHolidays } from '../../../core/settlements/holidays.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import type { Problem } from '../../../rules/errors.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { formToken } from '../frame/layout.ts';
import { type Column, empty, field, notice, table } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { ledgerTabs, PATHS } from '../ledger/parts.ts';
import { languageTag, panelTexts } from '../locales/index.ts';
import { changed } from './account.ts';

const text = panelTexts.payouts;

const weekday = (day: string): string =>
  new Intl.DateTimeFormat(languageTag(), { weekday: 'long', timeZone: 'UTC' }).format(Date.parse(day));

const columns = (): Column<Holiday>[] => [
  { label: text.holiday, cell: ({ name }) => html`<bdi>${name}</bdi>` },
  { label: text.date, cell: ({ day }) => day },
  { label: text.weekday, cell: ({ day }) => weekday(day) },
];

const lineOf = ({ day, name }: Holiday): string => `${day} ${name}`;

/** A day and its name in each line; lines without text are left out. */
const readLines = (lines: string): Holiday[] =>
  lines
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [day = '', ...name] = line.split(/\s+/);
      return { day, name: name.join(' ') };
    });

/** The line that was refused, with what is accepted there. */
const refusalOf = ({ field: name, sentence, expected }: Problem, lines: readonly Holiday[]): string => {
  const index = Number(/\[(\d+)\]/.exec(name)?.[1]);
  return [lines[index] && `${lineOf(lines[index])}:`, sentence, expected].filter(Boolean).join(' ');
};

function holidayForm(
  { session, form }: PanelRequest,
  holidays: readonly Holiday[],
  problems: readonly Problem[],
): Html {
  const typed = form.get('holidays');
  const [problem] = problems;
  return html`<section class="card narrow"><h2>${text.setHolidays}</h2><form method="post" action="${PATHS.calendar}">${formToken(session)}${field(
    {
      name: 'holidays',
      label: text.holidays,
      hint: text.holidaysHint,
      error: problem && refusalOf(problem, readLines(typed ?? '')),
    },
    (attributes) =>
      html`<textarea ${attributes} rows="14" spellcheck="false">${typed ?? holidays.map(lineOf).join('\n')}</textarea>`,
  )}<div class="actions"><button>${text.setHolidays}</button></div></form></section>`;
}

async function show(request: PanelRequest, problems: readonly Problem[] = []): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const holidays = await listHolidays(gateway);
  return {
    title: text.calendar,
    status: problems.length > 0 ? 400 : 200,
    body: html`${notice(query.done && text.holidaysSet)}<div class="head"><h1>${text.calendar}</h1></div>
${ledgerTabs(request, 'calendar')}
<div class="head"><p class="soft">${text.calendarHint}</p></div>
<div class="columns even"><section class="card flush"><h2 class="inset">${text.holidays}</h2>${
      holidays.length > 0 ? table(text.holidays, columns(), holidays) : empty(text.noHolidays, text.noHolidaysHint)
    }</section>${isAllowed(session.principal.role, 'settlements.set_terms') && holidayForm(request, holidays, problems)}</div>`,
  };
}

async function change(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, form } = request;
  const set = async (): Promise<string> => {
    await setHolidays(gateway, caller, { holidays: readLines(form.get('holidays') ?? '') });
    return `${PATHS.calendar}?done=1`;
  };
  return changed(set, (problems) => show(request, problems));
}

export const calendarPages: readonly PanelRoute[] = [
  {
    method: 'GET',
    path: PATHS.calendar,
    permission: 'settlements.view',
    scope: 'installation',
    handle: (request) => show(request),
  },
  {
    method: 'POST',
    path: PATHS.calendar,
    permission: 'settlements.set_terms',
    scope: 'installation',
    confirmFor: PATHS.calendar,
    handle: change,
  },
];
