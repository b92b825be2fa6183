/** What a merchant may change about its own account: the look and the texts of its pages, and its callbacks. */
import { Refusal } from '../../rules/errors.ts';
import { isAllowed, type Role } from '../../rules/roles.ts';
import { isMerchantSetting } from '../../rules/setting-groups.ts';

/** The members of a change that the role may not change; the name and the suspension are not settings. */
export const foreignMembers = (
  { role }: { role: Role },
  change: { name?: unknown; isSuspended?: unknown; settings?: object },
): string[] =>
  isAllowed(role, 'accounts.change')
    ? []
    : [
        ...(change.name === undefined ? [] : ['name']),
        ...(change.isSuspended === undefined ? [] : ['suspended']),
        ...Object.keys(change.settings ?? {}).filter((name) => !isMerchantSetting(name)),
      ];

/** Refuses a change of what only operators change, and names it. */
export function requireOwnSettings(...of: Parameters<typeof foreignMembers>): void {
  const foreign = foreignMembers(...of);
  if (foreign.length === 0) return;
  const sentence = 'This value is changed by the operator of the gateway only.';
  throw new Refusal(
    'forbidden',
    foreign.map((field) => ({ field, sentence })),
  );
}
