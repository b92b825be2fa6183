/** The state of a link: from its terms, its successful payments and the time. */
import type { LinkState } from '../../rules/links.ts';
import type { OpenedLink } from '../../store/links/links.ts';

type Terms = Pick<OpenedLink, 'isActive' | 'uses' | 'payments' | 'validUntil'>;

export const usesLeft = ({ uses, payments }: Pick<OpenedLink, 'uses' | 'payments'>): number | null =>
  uses === null ? null : Math.max(uses - payments, 0);

export function linkState(link: Terms, now: number): LinkState {
  if (!link.isActive) return 'inactive';
  if (usesLeft(link) === 0) return 'used_up';
  return link.validUntil !== null && link.validUntil <= now ? 'expired' : 'active';
}
