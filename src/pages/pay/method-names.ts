/** The names of payment methods as payers read them: the account's own, or those of their kinds. */
import type { Account } from '../../core/context.ts';
import { type Brand, brandOf } from '../../rules/brands.ts';
import { isWalletKind, WALLET_NAMES } from '../../rules/method-kinds.ts';
import type { Locale } from '../locale.ts';
import type { PageView } from './view.ts';

/** An alias that consists only of these is a code for requests, which payers do not see. */
const CODE = /^[\da-z_.-]+$/;

/** The name that the account gave a method: for this language, for all languages, or an alias that is not a code. */
function ownName(
  label: string,
  { method_names, brand_aliases }: Account['settings'],
  { tag }: Locale,
): string | undefined {
  const [language] = tag.split('-', 1);
  const keys = [`${label}.${tag}`, `${label}.${language}`, label];
  const key = keys.find((name) => Object.hasOwn(method_names, name));
  if (key !== undefined) return method_names[key];
  return Object.keys(brand_aliases).find((alias) => brand_aliases[alias] === label && !CODE.test(alias));
}

/** The name of a brand: its own, or that of its kind. */
export function brandName({ kind, name }: Brand, { messages }: Locale): string {
  if (name !== undefined) return name;
  if (kind === 'card') return messages.card;
  return isWalletKind(kind) ? WALLET_NAMES[kind] : messages.methods[kind as keyof typeof messages.methods];
}

/** The name of a method on its own. */
function nameOf(label: string, { settings }: Pick<Account, 'settings'>, locale: Locale): string {
  const own = ownName(label, settings, locale);
  const brand = brandOf(label);
  if (own !== undefined || !brand) return own ?? '';
  const name = brandName(brand, locale);
  const [country, ...others] = (brand.name === undefined && brand.countries) || [];
  return country === undefined || others.length > 0 ? name : `${name} (${locale.formatCountry(country)})`;
}

/** The names of methods that are shown together: those that would be the same are numbered. */
export function methodNames(
  labels: readonly string[],
  account: Pick<Account, 'settings'>,
  locale: Locale,
): (label: string) => string {
  const byName = Map.groupBy(labels.toSorted(), (label) => nameOf(label, account, locale));
  const names = new Map(
    [...byName].flatMap(([name, same]) =>
      same.map((label, index): [string, string] => [label, same.length === 1 ? name : `${name}\u00a0${index + 1}`]),
    ),
  );
  return (label) => names.get(label) ?? nameOf(label, account, locale);
}

/** The names of the methods and wallets of a page. */
export const namesOn = ({ methods, wallets, account, locale }: PageView): ((label: string) => string) =>
  methodNames(
    [...methods, ...wallets].map(({ label }) => label),
    account,
    locale,
  );
