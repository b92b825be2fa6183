/** Chargebacks of the simulator: the bank takes money back, the provider returns it, the bank takes it once more. */
import type { ChargebackKind, Payment } from './ledger.ts';
import { Conflict, type Simulator } from './payments.ts';

/** What a notification says besides the amount. */
export interface ChargebackDetails {
  /** Minor units; by default everything that is left. */
  amount?: string;
  respond_by?: string | null;
  reason?: string;
}

/** What must have happened last, by what happens next. */
const AFTER: Readonly<Record<ChargebackKind, readonly (ChargebackKind | undefined)[]>> = {
  chargeback: [undefined],
  chargeback_reversed: ['chargeback', 'second_chargeback'],
  second_chargeback: ['chargeback_reversed'],
};

const REFUSALS: Readonly<Record<ChargebackKind, string>> = {
  chargeback: 'There is no money that could be charged back.',
  chargeback_reversed: 'The payment is not charged back.',
  second_chargeback: 'Only a chargeback that was reversed can be followed by a second one.',
};

export const CHARGEBACK_KINDS = Object.keys(AFTER) as ChargebackKind[];

/** What a bank may do with a payment now. */
export function possibleChargebacks({ ledger }: Simulator, { reference, status }: Payment): ChargebackKind[] {
  if (status !== 'settled') return [];
  const isChargeback = (kind: string): kind is ChargebackKind => Object.hasOwn(AFTER, kind);
  const last = ledger.movementsOf(reference).findLast(({ kind }) => isChargeback(kind))?.kind;
  return CHARGEBACK_KINDS.filter(
    (kind) =>
      (AFTER[kind] as readonly unknown[]).includes(last) &&
      (kind === 'chargeback_reversed' || ledger.balance(reference) > 0n),
  );
}

/** Moves at most what is left; a reversal returns what the last chargeback took. */
export function chargeBack(
  simulator: Simulator,
  payment: Payment,
  kind: ChargebackKind = 'chargeback',
  { amount: named, ...details }: ChargebackDetails = {},
): void {
  const { ledger, notifications } = simulator;
  if (!possibleChargebacks(simulator, payment).includes(kind)) throw new Conflict(REFUSALS[kind]);
  const { reference, currency } = payment;
  ledger.transaction(() => {
    const movements = ledger.movementsOf(reference);
    const left = ledger.balance(reference);
    const isReversal = kind === 'chargeback_reversed';
    const taken = named === undefined || BigInt(named) > left ? String(left) : named;
    const amount = isReversal
      ? (movements.findLast((one) => AFTER[kind].includes(one.kind as ChargebackKind))?.amount ?? taken)
      : taken;
    const earlier = movements.filter((one) => one.kind === kind).length;
    const operation = earlier === 0 ? '' : String(earlier + 1);
    ledger.addMovement({ reference, operation, kind, direction: isReversal ? 'in' : 'out', amount, currency });
    notifications.write({ ...payment, amount: isReversal ? amount : (named ?? amount) }, { type: kind, ...details });
  });
  notifications.send(reference);
}
