/** Explains a merchant request to a caller of the admin API or the panel, as far as its role allows. */
import { maskCardNumbers } from '../../lib/cards/search.ts';
import { isAllowed } from '../../rules/roles.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Gateway } from '../context.ts';
import { auditEntry, type Caller, type Principal, sees } from '../operators/principal.ts';
import { type Explanation, explain, maskerFor } from './explain.ts';
import { readPath, readRequest } from './request.ts';

export interface SentRequest {
  mid: string;
  /** The body of the request, as it was sent. */
  text: string;
  path: string | undefined;
}

/** The digest of a status query is also that of a refund, so only a caller that may refund sees it. */
export const seesDigests = ({ role }: Pick<Principal, 'role'>): boolean => isAllowed(role, 'payments.operate');

/** An explanation with digests is recorded in the audit log. */
export async function explainAs(
  gateway: Gateway,
  principal: Principal,
  caller: Caller,
  { mid, text, path }: SentRequest,
): Promise<Explanation> {
  const { mids } = principal;
  const showsDigests = seesDigests(principal);
  const target = path === undefined ? undefined : readPath(path);
  const explanation = await explain(gateway, { mid, mids, showsDigests }, () => readRequest(text, target));
  const facts = { mid: explanation.mid, subject: explanation.action };
  if (showsDigests) await gateway.audit.append(auditEntry(gateway, caller, 'requests.explain', facts));
  return explanation;
}

/**
 * Whether a page may show the text of a request again: it contains no secret of the account and no card number. Without
 * an account, the secrets are not known.
 */
export async function isShowable(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  { mid, text }: Pick<SentRequest, 'mid' | 'text'>,
): Promise<boolean> {
  const account = sees(principal, mid) ? await findAccount(gateway, mid) : undefined;
  if (!account) return false;
  const mask = maskerFor(account);
  return spellingsOf(text).every((spelling) => maskCardNumbers(mask(spelling)) === spelling);
}

/** The text itself, without the percent-encoding of a form, and without the escapes of JSON. */
export function spellingsOf(text: string): string[] {
  const code = (_match: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));
  return [text, text.replaceAll('+', ' ').replace(/%([\da-f]{2})/gi, code), text.replace(/\\u([\da-f]{4})/gi, code)];
}
