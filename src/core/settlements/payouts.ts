/** Payouts of settlements: makes the file for the bank, moves the money when another person approves, records what the bank did. */
import { createHash } from 'node:crypto';
import { isUuid, newId } from '../../lib/crypto/id.ts';
import { boundTo } from '../../lib/crypto/seal.ts';
import { type Problem, Refusal } from '../../rules/errors.ts';
import { composeEntry, type LedgerEntry } from '../../rules/ledger.ts';
import {
  type BankDetails,
  bankName,
  PAYOUT_FORMATS,
  type PayoutFile,
  type PayoutFormat,
  payoutCsv,
  payoutXml,
  sumOf,
  TRANSFERS_MOST,
} from '../../rules/payouts.ts';
import { availableToday } from '../../rules/settlement-calendar.ts';
import type { BankAccount } from '../../store/settlements/bank-accounts.ts';
import type {
  Approvable,
  Payable,
  Payout,
  PayoutWithTransfers,
  Receiver,
  Transfer,
} from '../../store/settlements/payouts.ts';
import type { Gateway } from '../context.ts';
import { withCompleteLedger } from '../ledger/fold.ts';
import { invalid, readText } from '../ledger/input.ts';
import { auditEntry, type Caller, isAuthor } from '../operators/principal.ts';
import { detailsOf, payoutDetailsOf } from './bank-accounts.ts';

export type { Payout } from '../../store/settlements/payouts.ts';

/** As the caller sent it. */
export interface PayoutInput {
  settlement_ids: unknown;
  format: unknown;
}

const boundFile = (payoutId: string): string => boundTo('payouts', 'file', payoutId);
const boundHolder = ({ mid, transferId }: Pick<Transfer, 'mid' | 'transferId'>): string =>
  boundTo('transfers', 'holder', `${mid} ${transferId}`);

/** A transfer with the name of its receiver as the merchant wrote it, and as it is in the file; null if it was not kept. */
export type ShownTransfer = Omit<Transfer, 'holder'> & { holder: string | null; holderInFile: string | null };
export type ShownPayout = Payout & { transfers: ShownTransfer[] };

function shownTransfer({ seal }: Gateway, { format }: Payout, transfer: Transfer): ShownTransfer {
  const holder = transfer.holder && seal.open(transfer.holder, boundHolder(transfer));
  return { ...transfer, holder, holderInFile: holder === null || format === 'csv' ? holder : bankName(holder) };
}

const shownPayout = (gateway: Gateway, payout: PayoutWithTransfers): ShownPayout => ({
  ...payout,
  transfers: payout.transfers.map((transfer) => shownTransfer(gateway, payout, transfer)),
});

function readIds(value: unknown): string[] {
  const expected = `From 1 to ${TRANSFERS_MOST} ids of settlements, each once.`;
  if (!Array.isArray(value) || value.length === 0 || value.length > TRANSFERS_MOST)
    throw invalid('settlement_ids', expected);
  const ids = value.map((id) => (typeof id === 'string' && isUuid(id) ? id.toLowerCase() : ''));
  if (ids.includes('') || new Set(ids).size < ids.length) throw invalid('settlement_ids', expected);
  return ids;
}

/** Why nothing can be paid to this merchant now. */
function receiverProblem({ bank, hold }: Receiver, now: number): string | undefined {
  if (hold !== null) return 'The settlement terms of the account have a hold: nothing is paid.';
  if (!bank) return 'The account has no bank account in this currency.';
  if (bank.heldUntil !== null && bank.heldUntil > now)
    return 'The bank account was changed in the last 24 hours, and another person has not confirmed it.';
  return undefined;
}

function payableProblem(payable: Payable | undefined, currency: string, now: (mid: string) => number) {
  if (!payable) return 'This settlement does not exist.';
  if (payable.state !== 'approved') return `This settlement is ${payable.state.replace('_', ' ')}, not approved.`;
  if (payable.payout === 0n) return 'This settlement pays nothing.';
  if (payable.currency !== currency) return 'The settlements of a payout should have the same currency.';
  return receiverProblem(payable, now(payable.mid));
}

/** Refuses with a problem for each settlement that cannot be paid. */
function refuseProblems(found: readonly (readonly [string, string | undefined])[]): void {
  const problems = found.flatMap(([id, sentence]): Problem[] =>
    sentence === undefined ? [] : [{ field: `settlement_ids[${id}]`, sentence }],
  );
  if (problems.length > 0) throw new Refusal('payoutNotPossible', problems.slice(0, 100));
}

/** Makes a payout of approved settlements; its file is written once, and is returned when another person has approved. */
export async function makePayout(gateway: Gateway, by: Caller, input: PayoutInput): Promise<ShownPayout> {
  const ids = readIds(input.settlement_ids);
  const format = PAYOUT_FORMATS.find((one) => one === input.format);
  if (!format) throw invalid('format', `One of ${PAYOUT_FORMATS.join(', ')}.`);
  const accounts = await gateway.bankAccounts.payoutAccounts();
  const made = await gateway.payouts.make(ids, (payables) => {
    const currency = payables[0]?.currency ?? '';
    const byId = new Map(payables.map((payable) => [payable.settlementId, payable]));
    refuseProblems(ids.map((id) => [id, payableProblem(byId.get(id), currency, gateway.clock.now)]));
    const from = accounts.find((account) => account.currency === currency);
    if (!from && format === 'pain.001')
      throw new Refusal('payoutNotPossible', [
        { field: 'format', sentence: `No account is set from which payouts in ${currency} go.` },
      ]);
    const paid = ids.map((id) => byId.get(id) as Payable & { bank: BankAccount });
    const payoutId = newId();
    const accountsOf = new Map(paid.map(({ settlementId, bank }) => [settlementId, detailsOf(gateway, bank)]));
    const transfers = paid.map(({ settlementId, mid, payout, bank }): Transfer => {
      const transferId = newId();
      const { holder } = accountsOf.get(settlementId) as BankDetails;
      return {
        ...{ transferId, payoutId, settlementId, mid, currency, amount: payout, bankVersion: bank.version },
        holder: gateway.seal.seal(holder, boundHolder({ mid, transferId })),
        ...{ state: 'waiting', reason: null, paidAt: null, returnedAt: null },
      };
    });
    const madeAt = gateway.clock.now();
    const file = fileOf(format, {
      ...{ payoutId, currency, madeAt },
      from: from && payoutDetailsOf(gateway, from),
      transfers: transfers.map(({ transferId, settlementId, amount }) => ({
        ...{ transferId, amount, to: accountsOf.get(settlementId) as BankDetails },
        text: `Settlement ${byId.get(settlementId)?.number} ${currency}`,
      })),
    });
    const controlSum = sumOf(transfers);
    const payout: PayoutWithTransfers = {
      ...{ payoutId, currency, format, state: 'waiting', controlSum, transfers, madeAt },
      file: gateway.seal.seal(file, boundFile(payoutId)),
      sha256: createHash('sha256').update(file).digest('hex'),
      ...{ authorKind: by.kind, authorId: by.id, authorName: by.name, decidedBy: null, decidedAt: null },
    };
    const after = { currency, format, transfers: transfers.length, control_sum: String(controlSum) };
    return { change: payout, audit: auditEntry(gateway, by, 'payouts.make', { subject: payoutId, after }) };
  });
  return shownPayout(gateway, made);
}

/** Only a file for the bank says from which account the money goes. */
const fileOf = (format: PayoutFormat, file: Omit<PayoutFile, 'from'> & { from: PayoutFile['from'] | undefined }) =>
  format === 'csv' || !file.from ? payoutCsv(file) : payoutXml({ ...file, from: file.from });

/** Newest first. */
export const listPayouts = (gateway: Gateway, limit: number, before?: string): Promise<Payout[]> =>
  gateway.payouts.list(limit, before);

async function storedPayout(gateway: Gateway, id: string): Promise<PayoutWithTransfers> {
  const payout = isUuid(id) ? await gateway.payouts.find(id.toLowerCase()) : undefined;
  if (!payout) throw new Refusal('noSuchPayout');
  return payout;
}

export const findPayout = async (gateway: Gateway, id: string): Promise<ShownPayout> =>
  shownPayout(gateway, await storedPayout(gateway, id));

/** The file as it was made. */
export async function payoutFile(gateway: Gateway, id: string): Promise<{ format: PayoutFormat; text: string }> {
  const { payoutId, format, state, file } = await storedPayout(gateway, id);
  if (state !== 'approved') throw new Refusal('payoutNotApproved');
  return { format, text: gateway.seal.open(file, boundFile(payoutId)) };
}

const entryOf = (
  { transferId, mid, currency, amount }: Transfer,
  category: 'payout' | 'payout_paid' | 'payout_returned',
  postedAt: number,
): LedgerEntry => composeEntry({ sourceId: transferId, category, mid, currency, postedAt }, { amount });

/** Why a transfer cannot be approved: each one, and all of an account together, are paid from what is available now. */
function approvalProblem(approvable: Approvable, ofAccount: readonly Approvable[], now: number): string | undefined {
  const { bank, bankVersion, available } = approvable;
  const problem = receiverProblem(approvable, now);
  if (problem !== undefined) return problem;
  if (bank?.version !== bankVersion) return 'The bank account was changed since this payout was made.';
  return sumOf(ofAccount) > available ? 'The balance that is available now is lower than the payout.' : undefined;
}

/** Approves or refuses a payout, once, as another person than its author; an approval moves the money out of the balances. */
export async function decidePayout(
  gateway: Gateway,
  by: Caller,
  id: string,
  state: 'approved' | 'refused',
): Promise<ShownPayout> {
  const { payoutId, currency, transfers: found } = await storedPayout(gateway, id);
  const { now } = gateway.clock;
  const zones = await gateway.terms.timeZones([...new Set(found.map(({ mid }) => mid))], currency);
  await withCompleteLedger(gateway, (historyNumber) =>
    gateway.payouts.decide(
      payoutId,
      historyNumber,
      (mid) => availableToday(now(mid), [zones.get(mid) ?? []].flat()),
      (payout, transfers) => {
        if (isAuthor(payout, by)) throw new Refusal('ownPayout');
        if (payout.state !== 'waiting') throw new Refusal('payoutDecided');
        const isApproved = state === 'approved';
        const byAccount = Map.groupBy(transfers, ({ mid }) => mid);
        const problem = (one: Approvable) => approvalProblem(one, byAccount.get(one.mid) ?? [], now(one.mid));
        if (isApproved) refuseProblems(transfers.map((one) => [one.settlementId, problem(one)]));
        return {
          change: {
            ...{ state, decidedBy: by.name, decidedAt: now() },
            entries: isApproved ? transfers.map((one) => entryOf(one, 'payout', now(one.mid))) : [],
          },
          audit: auditEntry(gateway, by, `payouts.${isApproved ? 'approve' : 'refuse'}`, {
            subject: payoutId,
            before: { state: payout.state },
            after: { state },
          }),
        };
      },
    ),
  );
  return findPayout(gateway, payoutId);
}

/** What the bank did: a transfer that it returns gives its amount back to the balance, also after it was paid. */
function movedEntries(transfer: Transfer, state: 'paid' | 'returned', postedAt: number): LedgerEntry[] {
  if (state === 'paid') return [entryOf(transfer, 'payout_paid', postedAt)];
  const returned = entryOf(transfer, 'payout_returned', postedAt);
  if (transfer.state !== 'paid') return [returned];
  const { mid, currency, amount } = transfer;
  const reverses = entryOf(transfer, 'payout_paid', postedAt).entryId;
  const reversal = { sourceId: newId(), category: 'payout_paid', mid, currency, postedAt, reverses } as const;
  return [composeEntry(reversal, { amount: -amount }), returned];
}

/** Records that the bank has paid or returned a transfer, each once. */
export async function recordTransfer(
  gateway: Gateway,
  by: Caller,
  payoutId: string,
  transferId: string,
  input: { state: unknown; reason: unknown },
): Promise<ShownTransfer> {
  const payout = await storedPayout(gateway, payoutId);
  if (!isUuid(transferId)) throw new Refusal('noSuchTransfer');
  const { state } = input;
  if (state !== 'paid' && state !== 'returned') throw invalid('state', 'One of paid, returned.');
  const reason =
    input.reason === undefined || input.reason === null ? null : readText(input.reason, 'reason', 'Why, in words.');
  const key = { payoutId: payout.payoutId, transferId: transferId.toLowerCase() };
  const recorded = await gateway.payouts.record(key, (transfer) => {
    if (!transfer) throw new Refusal('noSuchTransfer');
    if (payout.state !== 'approved') throw new Refusal('payoutNotApproved');
    if (transfer.state === state || transfer.state === 'returned') throw new Refusal('transferRecorded');
    const { mid } = transfer;
    const at = gateway.clock.now(mid);
    const times = state === 'paid' ? { paidAt: at, returnedAt: null } : { paidAt: transfer.paidAt, returnedAt: at };
    return {
      change: { state, reason, ...times },
      entries: movedEntries(transfer, state, at),
      audit: auditEntry(gateway, by, `payouts.${state === 'paid' ? 'pay' : 'return'}_transfer`, {
        mid,
        subject: transfer.transferId,
        before: { state: transfer.state },
        after: { state, ...(reason !== null && { reason }) },
      }),
    };
  });
  return shownTransfer(gateway, payout, recorded);
}

/** Records all transfers of a payout that are on their way as paid, one after another: if it breaks off, it goes on where it was. */
export async function recordAllPaid(gateway: Gateway, by: Caller, id: string): Promise<ShownPayout> {
  const { payoutId, transfers } = await storedPayout(gateway, id);
  for (const { transferId, state } of transfers) {
    if (state !== 'in_transit') continue;
    await recordTransfer(gateway, by, payoutId, transferId, { state: 'paid', reason: undefined }).catch(
      (error: unknown) => {
        // Another person has recorded it meanwhile.
        if (!(error instanceof Refusal) || error.error !== 'transferRecorded') throw error;
      },
    );
  }
  return findPayout(gateway, payoutId);
}
