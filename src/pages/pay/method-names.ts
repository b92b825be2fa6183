/** The names of payment methods as payers read them: the account's own, or those of their kinds. */
import type { Account } from '../../core/context.ts';
import { brandOf } from '../../rules/brands.ts';
import type { MethodKind } from '../../rules/method-kinds.ts';
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

export const kindName = (kind: MethodKind, { messages }: Locale): string =>
  kind === 'card' ? messages.card : messages.methods[kind];

/** The name of a method on its own. */
function nameOf(label: string, { settings }: Pick<Account, 'settings'>, locale: Locale): string {
  const own = ownName(label, settings, locale);
  const brand = brandOf(label);
  if (own !== undefined || !brand) return own ?? '';
  const name = kindName(brand.kind, locale);
  return brand.country === undefined ? name : `${name} (${locale.formatCountry(brand.country)})`;
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
