/** Payment links: makes, lists and ends them, and finds the one of an address. */
import { isUuid, newId } from '../../lib/crypto/id.ts';
import { Refusal } from '../../rules/errors.ts';
import type { LinkMember, LinkState } from '../../rules/links.ts';
import { isAllowed } from '../../rules/roles.ts';
import type { Link, OpenedLink, PaidLink } from '../../store/links/links.ts';
import type { Account, Gateway } from '../context.ts';
import { auditEntry, type Caller, type Principal, sees } from '../operators/principal.ts';
import { canPayLink } from './begin.ts';
import { CODE, newCode } from './codes.ts';
import { NO_METHOD, readLink } from './read.ts';

export const linkUrl = ({ publicUrl }: Pick<Gateway, 'publicUrl'>, { code }: Pick<Link, 'code'>): string =>
  `${publicUrl}/l/${code}`;

/** Makes a link of an account; `by` is undefined for the merchant's server. */
export async function makeLink(
  gateway: Gateway,
  account: Account,
  body: Partial<Record<LinkMember, unknown>>,
  by?: Caller,
): Promise<PaidLink> {
  const read = readLink(gateway, account, body);
  if ('problems' in read) throw new Refusal('invalidData', read.problems);
  if (gateway.isLinkTooFast(account.mid)) throw new Refusal('tooManyRequests');
  const { mid } = account;
  const link: Link = {
    ...read.terms,
    mid,
    linkId: newId(),
    code: newCode(),
    isActive: true,
    createdBy: by?.id ?? null,
    createdAt: gateway.clock.now(mid),
  };
  if (link.methods.length > 0 && !canPayLink(gateway, account, link)) throw new Refusal('invalidData', [NO_METHOD]);
  const { linkId: subject, title, uses } = link;
  await gateway.links.insert(
    link,
    by && auditEntry(gateway, by, 'links.create', { mid, subject, after: { title, uses } }),
  );
  return { ...link, payments: 0, captured: 0n };
}

/** What a cashier sees: only what it made itself. */
const makerOf = ({ role, id }: Principal): string | undefined =>
  isAllowed(role, 'payments.view') ? undefined : (id ?? undefined);

export const listLinks = (
  gateway: Gateway,
  principal: Principal,
  filter: { mid?: string | undefined; state?: LinkState | undefined; before?: string | undefined; limit: number },
): Promise<PaidLink[]> =>
  gateway.links.list({
    ...filter,
    mids: principal.mids,
    createdBy: makerOf(principal),
    now: gateway.clock.now(),
  });

/** Refuses a link that does not exist, or that the caller may not see. */
export async function requireLink(gateway: Gateway, principal: Principal, linkId: string): Promise<PaidLink> {
  const link = isUuid(linkId) ? await gateway.links.find(linkId) : undefined;
  const maker = makerOf(principal);
  if (!link || !sees(principal, link.mid) || (maker !== undefined && link.createdBy !== maker)) {
    throw new Refusal('noSuchLink');
  }
  return link;
}

export async function switchLink(
  gateway: Gateway,
  principal: Principal,
  by: Caller,
  linkId: string,
  isActive: boolean,
): Promise<PaidLink> {
  const { mid } = await requireLink(gateway, principal, linkId);
  await gateway.links.change(linkId, (before) => ({
    change: { isActive },
    audit: auditEntry(gateway, by, 'links.change', {
      mid,
      subject: linkId,
      before: { active: before.isActive },
      after: { active: isActive },
    }),
  }));
  return requireLink(gateway, principal, linkId);
}

/** The link of an address; undefined if there is none. */
export const findLink = async ({ links }: Gateway, code: string): Promise<OpenedLink | undefined> =>
  CODE.test(code) ? links.findByCode(code) : undefined;
