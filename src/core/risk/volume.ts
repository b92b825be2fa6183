/** What is left of the volume limits of an account. */
import { firstIdAt } from '../../lib/crypto/id.ts';
import { amountText } from '../../lib/money/money.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { limitUnits, OPENED_BEFORE_MS, periodOf, type VolumeLimit } from '../../rules/risk/volume-limits.ts';
import type { Volume, VolumeQuery } from '../../store/risk/volumes.ts';
import type { Account, Gateway } from '../context.ts';

/** The payments that count for a limit. In production their ids are in the order of the account's clock. */
export function volumeQuery({ environment }: Gateway, { per, currency, brands }: VolumeLimit, at: number): VolumeQuery {
  const month = periodOf('month', at).since;
  const firstId = firstIdAt(environment === 'production' ? month - OPENED_BEFORE_MS : 0);
  return { since: periodOf(per, at).since, month, firstId, currency, brands };
}

/** The account is counted anew with its next payment. */
export const restartVolumes = ({ riskVolumes }: Gateway, mid: string): Promise<void> => riskVolumes.restart(mid);

/** The limits of an account with what is used and left of them, for its page and the admin API. */
export async function volumeView(gateway: Gateway, account: Account) {
  const limits = account.settings.volume_limits;
  if (limits.length === 0) return [];
  const at = gateway.clock.now(account.mid);
  const volumes = await gateway.riskVolumes.read(
    account.mid,
    limits.map((limit) => volumeQuery(gateway, limit, at)),
  );
  return limits.map((limit, index) => oneView(limit, volumes[index] as Volume, at));
}

function oneView(limit: VolumeLimit, used: Volume, at: number) {
  const { per, currency, brands, count } = limit;
  const exponent = exponentOf(currency);
  const most = limitUnits(limit);
  const isPayment = per === 'payment';
  const taken = isPayment ? 0n : used.amount;
  const left = most === undefined ? null : most > taken ? most - taken : 0n;
  return {
    per,
    currency,
    brands,
    used: amountText(taken, exponent),
    left: left === null ? null : amountText(left, exponent),
    used_count: isPayment ? 0 : used.count,
    left_count: count === undefined ? null : Math.max(0, count - used.count),
    resets_at: isPayment ? null : wireDate(periodOf(per, at).until),
  };
}
