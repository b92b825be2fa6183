/** Blocks the card or the payer of a payment for some days: an entry in a list of the account, which a rule of it blocks. */
import { isDeepStrictEqual } from 'node:util';
import { cut } from '../../lib/text/cut.ts';
import { invalidField } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { ListEntry, RiskList } from '../../store/risk/lists.ts';
import type { Gateway, PaymentWithDetails } from '../context.ts';
import type { Caller, Principal } from '../operators/principal.ts';
import { addEntries, createList, listLists, type NewEntry } from './lists.ts';
import { createRule, listRules } from './rules.ts';

export const BLOCKABLE = ['card', 'email', 'ip', 'phone'] as const;
export type Blockable = (typeof BLOCKABLE)[number];
export const BLOCK_DAYS = [1, 7, 30, 90, 365] as const;

/** The names of the lists and of their rules; an account has one of each. */
const NAMES: Readonly<Record<Blockable, string>> = {
  card: 'Blocked cards',
  email: 'Blocked e-mail addresses',
  ip: 'Blocked IP addresses',
  phone: 'Blocked phone numbers',
};

/** What of a payment can be blocked. */
export const blockableOf = ({ details: { card, payer } }: PaymentWithDetails): Blockable[] =>
  BLOCKABLE.filter((what) => (what === 'card' ? card !== undefined : Boolean(payer[what])));

type Viewer = Pick<Principal, 'mids'>;

async function requireBlockList(
  gateway: Gateway,
  principal: Viewer,
  by: Caller,
  mid: string,
  kind: Blockable,
): Promise<RiskList> {
  const name = NAMES[kind];
  const lists = await listLists(gateway, { mid, mids: principal.mids }, LIMITS.riskRulesMost);
  const list =
    lists.find((one) => one.name === name && one.kind === kind) ?? (await createList(gateway, by, { mid, name, kind }));
  const rules = await listRules(gateway, { mid, mids: principal.mids }, LIMITS.riskRulesMost);
  const condition = { field: kind, op: 'in_list', value: list.listId };
  // A rule with a further condition would not block all entries.
  const isBlocking = rules.some(
    (rule) => rule.state === 'on' && rule.action.kind === 'block' && isDeepStrictEqual(rule.condition, condition),
  );
  if (isBlocking) return list;
  // The list names what a person has blocked, so that there is nothing to try first.
  const confirm = async (): Promise<void> => undefined;
  await createRule(gateway, principal, by, mid, { name, condition, action: { kind: 'block' }, state: 'on' }, confirm);
  return list;
}

/** Blocks what was chosen until the days are over. If the process dies meanwhile, the same request completes it. */
export async function blockPayer(
  gateway: Gateway,
  principal: Viewer,
  by: Caller,
  payment: PaymentWithDetails,
  { what, days, reason }: { what: unknown; days: unknown; reason: string },
): Promise<ListEntry | undefined> {
  const kind = blockableOf(payment).find((one) => one === what);
  if (kind === undefined)
    throw invalidField('what', 'The value you selected is not a valid choice.', {
      expected: `One of ${blockableOf(payment).join(', ')}.`,
    });
  const length = BLOCK_DAYS.find((one) => String(one) === days);
  if (length === undefined)
    throw invalidField('days', 'The value you selected is not a valid choice.', {
      expected: `One of ${BLOCK_DAYS.join(', ')}.`,
    });
  const { mid, paymentId, details } = payment;
  const expiresAt = gateway.clock.now(mid) + length * LIMITS.dayMs;
  const entry: NewEntry = {
    path: 'block',
    reason: cut(reason, LIMITS.riskReasonLength),
    expiresAt,
    ...(kind === 'card' ? { paymentId } : { value: details.payer[kind] }),
  };
  const list = await requireBlockList(gateway, principal, by, mid, kind);
  return (await addEntries(gateway, principal, by, list.listId, [entry]))[0];
}
