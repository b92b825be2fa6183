/** Settings that are lists of known values: chosen by name with boxes, some of them in an order of their own. */
import type { Account, Gateway } from '../../../core/context.ts';
import { NETWORK_NAMES, networkTitle } from '../../../lib/cards/networks.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { BRAND_LABELS, BRANDS, CARD, isForPayers } from '../../../rules/brands.ts';
import type { SettingName } from '../../../rules/settings.ts';
import { localeFor } from '../../locale.ts';
import { methodNames } from '../../pay/method-names.ts';
import { badge } from '../frame/parts.ts';
import { languageTag, panelTexts } from '../locales/index.ts';
import { FOR_PAYERS } from '../payments/methods.ts';

const text = panelTexts.settings;

type Form = ReadonlyMap<string, string>;

interface ListSetting {
  values: readonly string[];
  /** The list has an order, and an empty one means all values. */
  isOrdered?: true;
}

const WALLET_A_NETWORKS = ['visa', 'masterCard', 'amex', 'discover', 'jcb', 'maestro'];
const WALLET_B_NETWORKS = ['AMEX', 'DISCOVER', 'JCB', 'MASTERCARD', 'VISA'];

const LISTS: Readonly<Partial<Record<SettingName, ListSetting>>> = {
  brands: { values: BRAND_LABELS, isOrdered: true },
  page_methods: { values: FOR_PAYERS, isOrdered: true },
  card_networks: { values: NETWORK_NAMES, isOrdered: true },
  'wallets.wallet-a.merchant_capabilities': {
    values: ['supports3DS', 'supportsEMV', 'supportsCredit', 'supportsDebit'],
  },
  'wallets.wallet-a.supported_networks': { values: WALLET_A_NETWORKS },
  'wallets.wallet-b.allowed_auth_methods': { values: ['PAN_ONLY', 'CRYPTOGRAM_3DS'] },
  'wallets.wallet-b.supported_networks': { values: WALLET_B_NETWORKS },
};

export const isList = (name: SettingName): boolean => LISTS[name] !== undefined;

/** The name of a value for people. */
export function listValueName(name: SettingName, value: string, account?: Pick<Account, 'settings'>): string {
  const known = text.choices[name]?.[value];
  if (known !== undefined) return known;
  if (name === 'brands' || name === 'page_methods') {
    const settings = account ?? { settings: { method_names: {}, brand_aliases: {} } as Account['settings'] };
    return methodNames(BRAND_LABELS, settings, localeFor(languageTag(), undefined))(value);
  }
  return networkTitle(value.toLowerCase()) ?? text.list.otherCards;
}

const modeOf = (name: string): string => `${name}.mode`;
const boxOf = (name: string, value: string): string => `${name}.use.${value}`;
const positionOf = (name: string, value: string): string => `${name}.position.${value}`;

const entries = Object.entries(LISTS) as [SettingName, ListSetting][];

/** A form that has the fields of such a list has it as the value of the setting, too: one per line, in its order. */
export function withLists(form: Form): Form {
  const composed = entries
    .filter(([name]) => form.has(modeOf(name)))
    .map(([name, { values }]): [string, string] => {
      const position = (value: string): number => {
        const typed = form.get(positionOf(name, value))?.trim() ?? '';
        return /^\d{1,4}$/.test(typed) ? Number(typed) : Number.MAX_SAFE_INTEGER;
      };
      // Those without a position stay in the order of the form.
      const chosen = [...form.keys()]
        .filter((field) => field.startsWith(boxOf(name, '')))
        .map((field) => field.slice(boxOf(name, '').length))
        .filter((value) => values.includes(value))
        .toSorted((a, b) => position(a) - position(b));
      return [name, form.get(modeOf(name)) === 'all' ? '' : chosen.join('\n')];
    });
  return new Map([...form, ...composed]);
}

/** The lists of a form that allow only some values, but none of them. */
export const emptyLists = (form: Form): { field: SettingName; sentence: string }[] =>
  entries
    .filter(([name]) => form.get(modeOf(name)) === 'some' && form.get(name) === '')
    .map(([field]) => ({ field, sentence: text.list.noneChosen }));

function note(gateway: Gateway, label: string): Html | undefined {
  const brand = BRANDS[label];
  const connector = brand?.connector ?? 'upstream';
  if (!Object.hasOwn(gateway.connectors, connector)) return badge(text.list.noProvider, 'wait');
  return brand && !isForPayers(brand) ? badge(text.list.requestsOnly, '') : undefined;
}

export interface ListFieldOptions {
  gateway: Gateway;
  account: Account;
  /** One value per line. */
  value: string;
  error?: string | undefined;
}

export function listField(name: SettingName, { gateway, account, value, error }: ListFieldOptions): Html {
  const { values, isOrdered } = LISTS[name] as ListSetting;
  const isMethods = name === 'brands' || name === 'page_methods';
  const chosen = value.split('\n').filter((one) => one !== '');
  const isAll = isOrdered === true && chosen.length === 0 && error === undefined;
  const mode = (one: 'all' | 'some', isChecked: boolean): Html =>
    html`<label class="choice"><input type="radio" name="${modeOf(name)}" value="${one}"${one === 'all' && html` class="all"`}${isChecked && html` checked`}>${text.list[one]}</label>`;
  const box = (one: string): Html =>
    html`<label class="choice"><input type="checkbox" name="${boxOf(name, one)}" value="1"${(chosen.includes(one) || isAll) && html` checked`}><span>${listValueName(name, one, account)}</span></label>`;
  const row = (one: string, index: number): Html => {
    const label = listValueName(name, one, account);
    return html`<li data-order>${box(one)}${isMethods && one !== CARD && html`<code class="soft">${one}</code>`}${isMethods && note(gateway, one)}<span class="inline"><button type="button" class="quiet small" hidden data-move="up" aria-label="${text.list.up}: ${label}">↑</button><button type="button" class="quiet small" hidden data-move="down" aria-label="${text.list.down}: ${label}">↓</button><input class="position" name="${positionOf(name, one)}" inputmode="numeric" maxlength="4" value="${index + 1}" aria-label="${text.list.position}: ${label}"></span></li>`;
  };
  const rows = [...chosen.filter((one) => values.includes(one)), ...values.filter((one) => !chosen.includes(one))];
  const described = [error !== undefined && `${name}-error`, `${name}-hint`].filter(Boolean).join(' ');
  return html`<fieldset class="field bare listed" aria-describedby="${described}"><legend>${text.names[name]}</legend>
${
  isOrdered
    ? html`<div class="choices">${mode('all', isAll)}${mode('some', !isAll)}</div>`
    : html`<input type="hidden" name="${modeOf(name)}" value="some">`
}
${error !== undefined && html`<p class="error" id="${name}-error">${error}</p>`}<p class="hint" id="${name}-hint">${text.hints[name]}</p>
${isOrdered ? html`<div class="list"><p class="hint">${text.list.order}</p><ol>${rows.map(row)}</ol></div>` : html`<div class="choices">${rows.map(box)}</div>`}</fieldset>`;
}
