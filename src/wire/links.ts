/** A payment link on the wire: its members in requests, and how it is returned. */
import type { Gateway, PaidLink } from '../core/context.ts';
import { linkUrl } from '../core/links/links.ts';
import { linkState, usesLeft } from '../core/links/state.ts';
import { amountText } from '../lib/money/money.ts';
import { wireDate, wireDateOrNull } from '../lib/time/clock.ts';
import { exponentOf } from '../rules/currencies.ts';
import { LINK_MEMBERS, type LinkMember } from '../rules/links.ts';

/** The members of a link in a request, as they were sent. */
export const linkBody = (at: (name: string) => unknown): Partial<Record<LinkMember, unknown>> =>
  Object.fromEntries(LINK_MEMBERS.map((name) => [name, at(name)]));

export function linkView(gateway: Pick<Gateway, 'publicUrl' | 'clock'>, link: PaidLink) {
  const wire = (units: bigint | null): string | null =>
    units === null ? null : amountText(units, exponentOf(link.currency));
  return {
    link_id: link.linkId,
    mid: link.mid,
    url: linkUrl(gateway, link),
    state: linkState(link, gateway.clock.now(link.mid)),
    title: link.title,
    description: link.description,
    currency: link.currency,
    amount: wire(link.amount),
    min_amount: wire(link.minAmount),
    max_amount: wire(link.maxAmount),
    uses: link.uses,
    uses_left: usesLeft(link),
    valid_until: wireDateOrNull(link.validUntil),
    methods: link.methods,
    locale: link.locale,
    success_url: link.successUrl,
    ask: link.ask,
    authorise: link.isAuthorisation,
    order_prefix: link.orderPrefix,
    payments: link.payments,
    captured: wire(link.captured),
    created_at: wireDate(link.createdAt),
  };
}
