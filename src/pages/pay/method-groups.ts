/** The arrangement of payment methods: a short list of likely ones, and the others in groups. */
import { type Method, ownOrder } from '../../core/payments/choose.ts';
import { type Brand, brandOf } from '../../rules/brands.ts';
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

export function arrangeMethods(view: PageView): ArrangedMethods {
  const { methods, account, payment } = view;
  const compare = byLikelihood({ country: countryOf(view), currency: payment.currency }, ownOrder(account).length > 0);
  const sorted = methods.toSorted((one, other) => compare(brandFor(one), brandFor(other)));
  if (sorted.length <= ONE_LIST_MOST) return { likely: sorted, groups: [] };
  const groups = Map.groupBy(sorted.slice(ONE_LIST_MOST - 1), (method) => METHOD_KINDS[brandFor(method).kind]);
  const order = [...new Set(Object.values(METHOD_KINDS))];
  return {
    likely: sorted.slice(0, ONE_LIST_MOST - 1),
    groups: [...groups].toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other)),
  };
}
