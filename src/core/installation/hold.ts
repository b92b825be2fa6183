/** The hold after a restore: whether automatic charges and voids wait, and what the provider may know already. */
import type { Restore } from '../../store/installation/restores.ts';
import type { Gateway } from '../context.ts';

/**
 * Whether automatic charges and voids wait for an operator. The gateway moves money without a request in five places,
 * and each of them waits: scheduled charges (the statement that claims them has the condition itself), voids of
 * authorisations whose time is over, card checks included (`payments/due.ts`), reviews whose deadline decides
 * (`risk/reviews.ts`), operations that are sent again because the provider never received them (`payments/operate.ts`),
 * and approved refunds that were not sent (`payments/refund-requests.ts`). After the release, the first three ask the
 * provider before they act on something that it may know already; an operation is sent again under its own id; refunds
 * that the provider may have made wait for a person. Read each time, in places that are rarely reached.
 */
export const isHeld = async ({ restores }: Pick<Gateway, 'restores'>): Promise<boolean> =>
  (await restores.last())?.releasedAt === null;

/**
 * Whether the provider may know more about something of this moment than this database, which was restored. The clocks
 * of a sandbox are restored, too: its moments can be repeated, so they tell nothing.
 */
export const isInLostTime = ({ environment }: Pick<Gateway, 'environment'>, restore: Restore, at: number): boolean =>
  environment === 'sandbox' || restore.releasedAt === null || at <= restore.releasedAt;

/** The same of the last restore; false if no backup was restored. */
export async function mayBeOutdated(gateway: Pick<Gateway, 'environment' | 'restores'>, at: number): Promise<boolean> {
  const restore = await gateway.restores.last();
  return restore !== undefined && isInLostTime(gateway, restore, at);
}
