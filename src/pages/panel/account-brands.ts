/** The choice of the brands of an account, and of their order on the payment page. */
import type { Account, Gateway } from '../../core/context.ts';
import { type Html, html } from '../../lib/html.ts';
import { BRANDS, brandOf, CARD, isForPayers } from '../../rules/brands.ts';
import { localeFor } from '../locale.ts';
import { methodNames } from '../pay/method-names.ts';
import { lines } from './account-settings.ts';
import { en } from './locales/en.ts';
import { badge, facts } from './parts.ts';

const text = en.accounts.brands;

const LABELS: readonly string[] = [CARD, ...Object.keys(BRANDS)];

const ALLOW = 'brands.allow.';
const POSITION = 'brands.position.';
const MODE = 'brands.mode';

/** Adds the setting `brands` to a form that has the fields of this choice: the labels in their order, one per line. */
export function withBrands(form: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  if (!form.has(MODE)) return form;
  const position = (label: string): number => {
    const typed = form.get(POSITION + label)?.trim() ?? '';
    return /^\d{1,4}$/.test(typed) ? Number(typed) : Number.MAX_SAFE_INTEGER;
  };
  const chosen = LABELS.filter((label) => form.has(ALLOW + label)).toSorted((a, b) => position(a) - position(b));
  return new Map([...form, ['brands', form.get(MODE) === 'all' ? '' : chosen.join('\n')]]);
}

/** The message for a form that allows only some brands, but none of them. */
export const brandsProblem = (form: ReadonlyMap<string, string>): string | undefined =>
  form.get(MODE) === 'some' && form.get('brands') === '' ? text.noneChosen : undefined;

interface BrandChoice {
  gateway: Gateway;
  account: Account;
  acceptLanguage: string | undefined;
  /** The allowed brands, one per line. */
  value: string;
  error?: string | undefined;
}

function note(gateway: Gateway, label: string): Html | undefined {
  const brand = BRANDS[label];
  const connector = brand?.connector ?? 'upstream';
  if (!Object.hasOwn(gateway.connectors, connector)) return badge(text.noProvider, 'wait');
  return brand && !isForPayers(brand) ? badge(text.requestsOnly, '') : undefined;
}

export function brandsField({ gateway, account, acceptLanguage, value, error }: BrandChoice): Html {
  const nameOf = methodNames(LABELS, account, localeFor(account.settings.locale, acceptLanguage));
  const allowed = lines(value);
  const isAll = allowed.length === 0 && error === undefined;
  const mode = (name: 'all' | 'some', label: string, isChecked: boolean): Html =>
    html`<label class="choice"><input type="radio" name="${MODE}" value="${name}" id="brands-${name}"${isChecked && html` checked`}>${label}</label>`;
  const rows = [...allowed, ...LABELS.filter((label) => !allowed.includes(label))].map((label, index) => {
    const name = nameOf(label);
    return html`<li data-order><label class="choice"><input type="checkbox" name="${ALLOW}${label}" value="1"${
      (allowed.includes(label) || isAll) && html` checked`
    }><span>${name}</span></label><span class="soft mono">${label !== name && label}</span>${note(gateway, label)}<span class="inline"><button type="button" class="quiet small" hidden data-move="up" aria-label="${text.up}: ${name}">↑</button><button type="button" class="quiet small" hidden data-move="down" aria-label="${text.down}: ${name}">↓</button><input class="position" name="${POSITION}${label}" inputmode="numeric" maxlength="4" value="${index + 1}" aria-label="${text.position}: ${name}"></span></li>`;
  });
  return html`<fieldset class="field bare brands"${error !== undefined && html` aria-describedby="brands-error"`}><legend>${en.accounts.settings.brands}</legend>
<div class="choices">${mode('all', text.all, isAll)}${mode('some', text.some, !isAll)}</div>
${error !== undefined && html`<p class="error" id="brands-error">${error}</p>`}
<div class="list"><p class="hint">${text.hint}</p><ol>${rows}</ol></div></fieldset>`;
}

/** The labels of the methods for payers, which the settings of the payment page use, with the names that payers see. */
export function methodLabels(account: Account, acceptLanguage: string | undefined): Html {
  const labels = LABELS.filter((label) => !brandOf(label)?.isPayout);
  const nameOf = methodNames(labels, account, localeFor(account.settings.locale, acceptLanguage));
  const mono = (label: string): Html => html`<span class="mono">${label}</span>`;
  return html`<details class="field"><summary>${text.labels}</summary>${facts(labels.map((label) => [nameOf(label), mono(label)]))}</details>`;
}
