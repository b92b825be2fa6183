/** Card sales over `/post`: what switching them on means, and who may do it in production. */
import { type Problem, Refusal } from '../../rules/errors.ts';
import type { SettingName } from '../../rules/settings.ts';
import type { Account, Gateway } from '../context.ts';
import type { Principal } from '../operators/principal.ts';

export const CARD_SALES: SettingName = 'dialect.card_sales';
export const CONFIRMATION = 'confirm_card_data';

const CARD_SALES_MEANING =
  'The merchant’s own systems will handle card numbers: they are in scope of PCI DSS, with a self-assessment ' +
  'questionnaire D or an audit in place of questionnaire A.';

/** Whether a change switches card sales on in production, where this needs a confirmation. */
export const switchesCardSalesOn = (
  { environment }: Pick<Gateway, 'environment'>,
  account: Pick<Account, 'settings'> | undefined,
  set: Partial<Record<SettingName, unknown>>,
): boolean => environment === 'production' && set[CARD_SALES] === true && account?.settings[CARD_SALES] !== true;

/** Refuses to switch card sales on in production, unless an owner confirms what it means. */
export function requireCardSalesConfirmed(
  gateway: Pick<Gateway, 'environment'>,
  { role }: Pick<Principal, 'role'>,
  account: Pick<Account, 'settings'> | undefined,
  set: Partial<Record<SettingName, unknown>>,
  isConfirmed: boolean,
): Problem[] {
  if (!switchesCardSalesOn(gateway, account, set)) return [];
  if (role !== 'owner') {
    const sentence = 'This setting should be switched on by an owner.';
    throw new Refusal('forbidden', [{ field: CARD_SALES, sentence, hint: CARD_SALES_MEANING }]);
  }
  if (isConfirmed) return [];
  const sentence = 'This value should be true.';
  return [
    { field: CONFIRMATION, sentence, expected: 'true, to confirm what the setting means.', hint: CARD_SALES_MEANING },
  ];
}
