/** Settlements, payouts and their terms as the admin API shows them, and as CSV. */
import { wireDate, wireDateOrNull } from '../../lib/time/clock.ts';
import type { Gateway } from '../context.ts';
import type { ShownAccount } from '../settlements/bank-accounts.ts';
import type { Payout, ShownPayout, ShownTransfer } from '../settlements/payouts.ts';
import type { ProviderPayment } from '../settlements/provider-payments.ts';
import type { Settlement } from '../settlements/settlements.ts';
import type { SettlementTerms } from '../settlements/terms.ts';
import type { Download } from './download.ts';
import { ledgerAmount, portionsCsv } from './ledger.ts';

/** From minutes after midnight. */
const timeOfDay = (minutes: number): string =>
  [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');

export const termsView = (terms: SettlementTerms) => ({
  currency: terms.currency,
  cycle: terms.cycle,
  weekday: terms.weekday,
  day: terms.day,
  time_zone: terms.timeZone,
  cut_off: timeOfDay(terms.cutOff),
  business_days: terms.businessDays,
  delay_days: terms.delayDays,
  minimum: terms.minimum === null ? null : ledgerAmount(terms.minimum, terms.currency),
  reserve: terms.reservePercent === null ? null : { percent: terms.reservePercent, days: terms.reserveDays },
  hold: terms.hold,
  valid_from: wireDate(terms.validFrom),
});

export const bankAccountView = ({ currency, holder, masked, changedAt, heldUntil }: ShownAccount) => ({
  currency,
  holder,
  account: masked,
  changed_at: wireDate(changedAt),
  held_until: wireDateOrNull(heldUntil),
});

export const payoutAccountView = ({ bic, ...account }: ShownAccount & { bic: string | null }) => {
  const { held_until: _, ...view } = bankAccountView(account);
  return { ...view, bic };
};

/** What both the list and its CSV have. */
const summary = (settlement: Settlement) => {
  const { currency } = settlement;
  return {
    settlement_id: settlement.settlementId,
    number: settlement.number,
    mid: settlement.mid,
    currency,
    from: wireDateOrNull(settlement.fromAt),
    until: wireDate(settlement.untilAt),
    opening: ledgerAmount(settlement.opening, currency),
    closing: ledgerAmount(settlement.closing, currency),
    payout: ledgerAmount(settlement.payout, currency),
    state: settlement.state,
    cut_by: settlement.cutBy,
    cut_at: wireDate(settlement.cutAt),
    decided_by: settlement.decidedBy,
    decided_at: wireDateOrNull(settlement.decidedAt),
  };
};

export const settlementView = (settlement: Settlement) => {
  const { currency, lines, withheld } = settlement;
  return {
    ...summary(settlement),
    lines: lines.map((line) => ({ ...line, amount: ledgerAmount(line.amount, currency) })),
    withheld: withheld.map((one) => ({ ...one, amount: ledgerAmount(one.amount, currency) })),
  };
};

const SETTLEMENT_HEADER = [
  ...['settlement_id', 'number', 'mid', 'currency', 'from', 'until', 'opening', 'closing', 'payout', 'state'],
  ...['cut_by', 'cut_at', 'decided_by', 'decided_at'],
];

export const settlementsCsv = (
  gateway: Gateway,
  read: (limit: number, before?: string) => Promise<Settlement[]>,
): Promise<Download> =>
  portionsCsv<Settlement>(
    gateway,
    'settlements',
    SETTLEMENT_HEADER,
    (one) => [Object.values(summary(one))],
    (limit, last) => read(limit, last?.settlementId),
  );

export const transferView = (transfer: ShownTransfer) => ({
  transfer_id: transfer.transferId,
  settlement_id: transfer.settlementId,
  mid: transfer.mid,
  amount: ledgerAmount(transfer.amount, transfer.currency),
  currency: transfer.currency,
  holder: transfer.holder,
  holder_in_file: transfer.holderInFile,
  state: transfer.state,
  reason: transfer.reason,
  paid_at: wireDateOrNull(transfer.paidAt),
  returned_at: wireDateOrNull(transfer.returnedAt),
});

export const listedPayoutView = (payout: Payout) => ({
  payout_id: payout.payoutId,
  currency: payout.currency,
  format: payout.format,
  state: payout.state,
  control_sum: ledgerAmount(payout.controlSum, payout.currency),
  sha256: payout.sha256,
  made_by: payout.authorName,
  made_at: wireDate(payout.madeAt),
  decided_by: payout.decidedBy,
  decided_at: wireDateOrNull(payout.decidedAt),
});

export const payoutView = ({ transfers, ...payout }: ShownPayout) => ({
  ...listedPayoutView(payout),
  transfers: transfers.map(transferView),
});

const PAYOUT_HEADER = [
  ...['payout_id', 'currency', 'format', 'state', 'control_sum', 'sha256'],
  ...['made_by', 'made_at', 'decided_by', 'decided_at'],
];

export const payoutsCsv = (
  gateway: Gateway,
  read: (limit: number, before?: string) => Promise<Payout[]>,
): Promise<Download> =>
  portionsCsv<Payout>(
    gateway,
    'payouts',
    PAYOUT_HEADER,
    (one) => [Object.values(listedPayoutView(one))],
    (limit, last) => read(limit, last?.payoutId),
  );

export const providerPaymentView = (payment: ProviderPayment) => ({
  provider_payment_id: payment.providerPaymentId,
  connector: payment.connector,
  currency: payment.currency,
  amount: ledgerAmount(payment.amount, payment.currency),
  reference: payment.reference,
  received_on: payment.receivedOn,
  recorded_by: payment.recordedBy,
  recorded_at: wireDate(payment.recordedAt),
});

const PROVIDER_PAYMENT_HEADER = [
  ...['provider_payment_id', 'connector', 'currency', 'amount', 'reference', 'received_on'],
  ...['recorded_by', 'recorded_at'],
];

export const providerPaymentsCsv = (
  gateway: Gateway,
  read: (limit: number, before?: string) => Promise<ProviderPayment[]>,
): Promise<Download> =>
  portionsCsv<ProviderPayment>(
    gateway,
    'provider-payments',
    PROVIDER_PAYMENT_HEADER,
    (one) => [Object.values(providerPaymentView(one))],
    (limit, last) => read(limit, last?.providerPaymentId),
  );
