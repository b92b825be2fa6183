/** The pictures of the reports: lines over time, which a script draws, and bars, which need none. */
import { type Html, html } from '../../../lib/text/html.ts';
import { count } from '../frame/parts.ts';

export interface Line {
  label: string;
  values: readonly (number | null)[];
  unit?: '%' | 'ms' | 'amount';
  /** The same figures in the time before. */
  isPrevious?: true;
}

/** Lines over time; `at` is in milliseconds. */
export const lineChart = (at: readonly number[], series: readonly Line[], label: string): Html =>
  html`<div class="chart" role="img" aria-label="${label}" data-chart="${JSON.stringify({ times: at.map((ms) => ms / 1000), series })}"></div>`;

export interface Bar {
  label: Html | string;
  value: number;
  /** How the number is written; as it is, if omitted. */
  shown?: string;
  /** What stands beside the number. */
  note?: string | undefined;
  tone?: 'good' | 'bad';
}

/** Bars with their numbers as text. The widths are attributes: the policy of the pages allows no styles. */
export function bars(label: string, rows: readonly Bar[]): Html {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  return html`<ul class="bars" aria-label="${label}">${rows.map(
    ({ label: name, value, shown = count(value), note, tone = '' }) =>
      html`<li><span class="name">${name}</span> <span class="value">${shown}${note !== undefined && html` <span class="soft">${note}</span>`}</span><svg class="${tone}" aria-hidden="true" height="8"><rect class="ground" width="100%" height="8" rx="4"/><rect width="${((100 * value) / most).toFixed(2)}%" height="8" rx="4"/></svg></li>`,
  )}</ul>`;
}
