/** Fields for several values of a list: the script shows them as chips, and without it they are typed with commas. */
import { type Html, html } from '../../../lib/text/html.ts';
import { panelTexts } from '../locales/index.ts';
import { type FieldOptions, field } from './parts.ts';

const optionsId = (list: string): string => `options-${list}`;

/** The values that fields of this list offer, once for all of them. */
export const chipOffers = (list: string, choices: readonly (readonly [value: string, label: string])[]): Html =>
  html`<datalist id="${optionsId(list)}">${choices.map(([value, label]) => html`<option value="${value}" label="${label}"></option>`)}</datalist>`;

/** The field; with `isFree`, other values than those of the list are accepted. */
export function chipField(options: FieldOptions, list: string, isFree = false): Html {
  const { addChip, removeChip, unknownChip } = panelTexts.connections;
  return field({
    ...options,
    attributes: html`data-chips="${optionsId(list)}" data-add="${addChip}" data-remove="${removeChip}" data-unknown="${unknownChip}"${isFree && html` data-free`}`,
  });
}

/** The values of such a field. */
export const chipValues = (value: string | undefined): string[] =>
  (value ?? '').split(/[\s,]+/).filter((each) => each !== '');
