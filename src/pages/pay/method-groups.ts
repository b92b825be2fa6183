/** The arrangement of payment methods: a short list of likely ones, and the others in groups. */
import { type Method, ownOrder } from '../../core/payments/choose.ts';
import { type Brand, brandOf, CARD } from '../../rules/brands.ts';
import { byLikelihood, METHOD_KINDS, type MethodGroup } from '../../rules/method-kinds.ts';
import type { PageView } from './view.ts';

/** Up to this number all methods are shown in one list; of more, one less is shown before the groups. */
const ONE_LIST_MOST = 6;

export interface ArrangedMethods {
  likely: readonly Method[];
  groups: readonly (readonly [MethodGroup, readonly Method[]])[];
}

/** The region of the browser's language stands in for a country that the merchant did not send. */
const countryOf = ({ payment: { details }, locale: { tag } }: PageView): string | undefined =>
  details.payer.country?.toUpperCase() || new Intl.Locale(tag).region;

const brandFor = ({ label }: Method): Brand => brandOf(label) as Brand;

/** The methods by likelihood; a card comes first if the payer has a saved one. */
function sortedMethods(view: PageView): readonly Method[] {
  const { methods, account, payment, savedCards } = view;
  const compare = byLikelihood({ country: countryOf(view), currency: payment.currency }, ownOrder(account).length > 0);
  const hasSaved = savedCards.some(({ isExpired }) => !isExpired);
  const isSaved = ({ label }: Method): number => (hasSaved && label === CARD ? 0 : 1);
  return methods.toSorted((one, other) => isSaved(one) - isSaved(other) || compare(brandFor(one), brandFor(other)));
}

/** The method whose form is open: the one that the payer chose, else the one that was declined, else the first. */
export const openMethod = (view: PageView, label: string | undefined): Method | undefined => {
  const { methods, payment } = view;
  const named = (name: string | undefined): Method | undefined => methods.find((method) => method.label === name);
  return named(label) ?? (payment.state === 'DECLINED' ? named(payment.brand) : undefined) ?? sortedMethods(view)[0];
};

/** The open method is always in the list. */
export function arrangeMethods(view: PageView, open: Method): ArrangedMethods {
  const sorted = sortedMethods(view);
  if (sorted.length <= ONE_LIST_MOST) return { likely: sorted, groups: [] };
  const first = sorted.slice(0, ONE_LIST_MOST - 1);
  const likely = first.some(({ label }) => label === open.label) ? first : [open, ...first];
  const others = sorted.filter(({ label }) => likely.every((method) => method.label !== label));
  const groups = Map.groupBy(others, (method) => METHOD_KINDS[brandFor(method).kind]);
  const order = [...new Set(Object.values(METHOD_KINDS))];
  return {
    likely,
    groups: [...groups].toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other)),
  };
}
