/** Payouts and their transfers, and the payments of providers, each written together with its ledger entries. */
import { sql } from 'kysely';
import { LEDGER_ACCOUNTS, type LedgerEntry } from '../../rules/ledger.ts';
import type { PayoutFormat, PayoutState, TransferState } from '../../rules/payouts.ts';
import type { SettlementState } from '../../rules/settlements.ts';
import { type AuditActor, type AuditEntry, appendAudit } from '../audit/audit.ts';
import { clientOf } from '../database/client.ts';
import { iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { Decision } from '../database/decision.ts';
import { addEntries } from '../ledger/entries.ts';
import type { BankAccount } from './bank-accounts.ts';
import { debitsUnderWay, holdLedger, lockCycles, type Owner, ownerKey } from './cycles.ts';
import { writeMessages } from './messages.ts';

export interface Payout {
  payoutId: string;
  currency: string;
  format: PayoutFormat;
  state: PayoutState;
  controlSum: bigint;
  /** Sealed. */
  file: Buffer;
  sha256: string;
  authorKind: AuditActor['kind'];
  authorId: string | null;
  authorName: string;
  madeAt: number;
  decidedBy: string | null;
  decidedAt: number | null;
}

export interface Transfer {
  transferId: string;
  payoutId: string;
  settlementId: string;
  mid: string;
  currency: string;
  amount: bigint;
  bankVersion: number;
  /** The name of the receiver, sealed; null if the payout was made before names were kept. */
  holder: Buffer | null;
  state: TransferState;
  reason: string | null;
  paidAt: number | null;
  returnedAt: number | null;
}

export type PayoutWithTransfers = Payout & { transfers: Transfer[] };

/** The bank account of a merchant in a currency, and why the terms hold payouts to it, if they do. */
export interface Receiver {
  bank: BankAccount | undefined;
  hold: string | null;
}

/** A settlement that is to be paid, and who gets it. */
export interface Payable extends Receiver {
  settlementId: string;
  mid: string;
  currency: string;
  number: number;
  payout: bigint;
  state: SettlementState;
}

/** A transfer that is to be approved, with what the merchant has now. */
export type Approvable = Transfer & Receiver & { available: bigint };

export interface PayoutDecision {
  state: Exclude<PayoutState, 'waiting'>;
  decidedBy: string;
  decidedAt: number;
  /** Of an approval. */
  entries: LedgerEntry[];
}

export interface ProviderPayment {
  providerPaymentId: string;
  connector: string;
  currency: string;
  amount: bigint;
  reference: string;
  receivedOn: string;
  recordedBy: string;
  recordedAt: number;
}

export interface PayoutStore {
  /** Decides from the settlements, which nobody else pays meanwhile; those that do not exist are missing. */
  make(
    settlementIds: readonly string[],
    decide: (payables: Payable[]) => Decision<PayoutWithTransfers>,
  ): Promise<PayoutWithTransfers>;
  /** Newest first; without their transfers. */
  list(limit: number, before?: string): Promise<Payout[]>;
  find(payoutId: string): Promise<PayoutWithTransfers | undefined>;
  /**
   * Decides on the locked row; `today` is the day by the clock of an account. Undefined while the ledger does not have the
   * history up to this number.
   */
  decide(
    payoutId: string,
    historyNumber: bigint,
    today: (mid: string) => string,
    decide: (payout: Payout, transfers: Approvable[]) => Decision<PayoutDecision>,
  ): Promise<true | undefined>;
  /** Decides on the locked row of a transfer of the payout. */
  record(
    key: Pick<Transfer, 'payoutId' | 'transferId'>,
    decide: (transfer: Transfer | undefined) => Decision<
      Pick<Transfer, 'state' | 'reason' | 'paidAt' | 'returnedAt'>
    > & {
      entries: LedgerEntry[];
    },
  ): Promise<Transfer>;
  /** Records a payment of a provider with its entry; returns the one with the same reference, if there is one. */
  recordProviderPayment(
    payment: ProviderPayment,
    entry: LedgerEntry,
    audit: AuditEntry,
  ): Promise<ProviderPayment | undefined>;
  listProviderPayments(limit: number, before?: string): Promise<ProviderPayment[]>;
}

/** The states of the settlements of transfers. */
const SETTLED_AS: Partial<Record<TransferState, SettlementState>> = { paid: 'paid', returned: 'returned' };

const PROVIDER_PAYMENT = sql`provider_payment_id, connector, currency, amount, reference,
  received_on::text as received_on, recorded_by, recorded_at`;

async function receiversOf(
  transaction: Database['query'],
  mids: readonly string[],
): Promise<(owner: Owner) => Receiver> {
  const banks = await sql<BankAccount>`select * from bank_accounts where mid = any (${mids}::uuid[])`.execute(
    transaction,
  );
  const terms = await sql<Owner & { hold: string | null }>`
    select distinct on (mid, currency) mid, currency, hold from settlement_terms
    where mid = any (${mids}::uuid[]) order by mid, currency, valid_from desc`.execute(transaction);
  const bankOf = new Map(banks.rows.map((row) => [ownerKey(row), row]));
  const holdOf = new Map(terms.rows.map((row) => [ownerKey(row), row.hold]));
  return (owner) => ({ bank: bankOf.get(ownerKey(owner)), hold: holdOf.get(ownerKey(owner)) ?? null });
}

/** Tells merchants of the states of their transfers. */
const tell = (transaction: Database['query'], transfers: readonly (Transfer & { at: number })[]) =>
  writeMessages(
    transaction,
    transfers.map(({ mid, currency, settlementId, transferId, state, reason, at }) => ({
      ...{ mid, currency, settlementId, transferId, at },
      type: 'payout',
      status: state,
      detail: reason,
    })),
  );

export function createPayoutStore({ query }: Database): PayoutStore {
  const setStates = (transaction: Database['query'], ids: readonly string[], state: SettlementState) =>
    sql`update settlements set state = ${state} where settlement_id = any (${ids}::uuid[])`.execute(transaction);

  const transfersOf = async (source: Database['query'], payoutId: string): Promise<Transfer[]> => {
    const { rows } = await sql<Transfer>`select * from transfers where payout_id = ${payoutId}::uuid
      order by transfer_id`.execute(source);
    return rows;
  };

  return {
    make: (settlementIds, decide) =>
      query.transaction().execute(async (transaction) => {
        const { rows } = await sql<Omit<Payable, keyof Receiver>>`
          select settlement_id, mid, currency, number, payout, state from settlements
          where settlement_id = any (${settlementIds}::uuid[]) order by settlement_id for update`.execute(transaction);
        const receiverOf = await receiversOf(transaction, [...new Set(rows.map(({ mid }) => mid))]);
        const { change, audit } = decide(rows.map((row) => ({ ...row, ...receiverOf(row) })));
        const { transfers, madeAt, decidedAt, ...payout } = change;
        await transaction
          .insertInto('payouts')
          .values({ ...payout, madeAt: iso(madeAt), decidedAt: isoOrNull(decidedAt) })
          .execute();
        const items = transfers.map((one) => ({
          transfer_id: one.transferId,
          settlement_id: one.settlementId,
          mid: one.mid,
          amount: String(one.amount),
          bank_version: one.bankVersion,
          holder: one.holder?.toString('hex'),
        }));
        await sql`
          insert into transfers (transfer_id, payout_id, settlement_id, mid, currency, amount, bank_version, holder, state)
          select i.transfer_id, ${payout.payoutId}::uuid, i.settlement_id, i.mid, ${payout.currency}, i.amount,
            i.bank_version, decode(i.holder, 'hex'), 'waiting'
          from jsonb_to_recordset(${JSON.stringify(items)}::jsonb)
            i(transfer_id uuid, settlement_id uuid, mid uuid, amount bigint, bank_version int, holder text)`.execute(
          transaction,
        );
        await setStates(
          transaction,
          transfers.map(({ settlementId }) => settlementId),
          'in_payout',
        );
        await appendAudit(transaction, audit);
        return change;
      }),

    async list(limit, before) {
      let found = query.selectFrom('payouts').selectAll().orderBy('payoutId', 'desc').limit(limit);
      if (before !== undefined) found = found.where('payoutId', '<', before);
      return (await found.execute()) as Payout[];
    },

    async find(payoutId) {
      const found = query.selectFrom('payouts').selectAll().where('payoutId', '=', payoutId);
      const payout = (await found.executeTakeFirst()) as Payout | undefined;
      return payout && { ...payout, transfers: await transfersOf(query, payoutId) };
    },

    decide: (payoutId, historyNumber, today, decide) =>
      query.transaction().execute(async (transaction) => {
        const { rows } = await sql<Payout>`select * from payouts where payout_id = ${payoutId}::uuid
          for update`.execute(transaction);
        const transfers = await transfersOf(transaction, payoutId);
        const mids = [...new Set(transfers.map(({ mid }) => mid))].sort();
        const currency = (rows[0] as Payout).currency;
        // Cuts and other payouts of these accounts wait.
        await sql`select from settlement_cycles where mid = any (${mids}::uuid[]) and currency = ${currency}
          order by mid for update`.execute(transaction);
        const folded = await holdLedger(transaction, historyNumber);
        if (folded === undefined) return undefined;
        const receiverOf = await receiversOf(transaction, mids);
        const accounts = mids.map((mid) => LEDGER_ACCOUNTS.balance.name.replace('{mid}', mid));
        const sums = await sql<{ account: string; amount: bigint }>`
          select account, sum(amount)::bigint as amount from (
            select s.account, s.credit - s.debit as amount
            from ledger_sums s
            join unnest(${accounts}::text[], ${mids.map(today)}::date[]) i(account, today) on s.account = i.account
            where s.currency = ${currency} and s.available_on <= i.today
            union all
            select i.account, -u.amount from (${sql.raw(debitsUnderWay(folded))}) u
            join unnest(${accounts}::text[], ${mids}::uuid[]) i(account, mid) on u.mid = i.mid
            where u.currency = ${currency}
          ) parts group by 1`.execute(transaction);
        const available = new Map(sums.rows.map(({ account, amount }) => [account, amount]));
        const approvable = transfers.map((transfer) => ({
          ...transfer,
          ...receiverOf(transfer),
          available: available.get(LEDGER_ACCOUNTS.balance.name.replace('{mid}', transfer.mid)) ?? 0n,
        }));
        const { change, audit } = decide(rows[0] as Payout, approvable);
        const { state, decidedBy, decidedAt, entries } = change;
        await transaction
          .updateTable('payouts')
          .set({ state, decidedBy, decidedAt: iso(decidedAt) })
          .where('payoutId', '=', payoutId)
          .execute();
        await transaction
          .updateTable('transfers')
          .set({ state: state === 'approved' ? 'in_transit' : 'refused' })
          .where('payoutId', '=', payoutId)
          .execute();
        const settlementIds = transfers.map(({ settlementId }) => settlementId);
        if (state === 'refused') await setStates(transaction, settlementIds, 'approved');
        await addEntries(clientOf(transaction), entries);
        await appendAudit(transaction, audit);
        // Each approved transfer has an entry, with the time by the clock of its account.
        const times = new Map(entries.map(({ sourceId, postedAt }) => [sourceId, postedAt]));
        await tell(
          transaction,
          transfers.flatMap((one) => {
            const at = times.get(one.transferId);
            return at === undefined ? [] : [{ ...one, state: 'in_transit', at }];
          }),
        );
        return true;
      }),

    record: ({ payoutId, transferId }, decide) =>
      query.transaction().execute(async (transaction) => {
        const ofKey = sql`from transfers where transfer_id = ${transferId}::uuid and payout_id = ${payoutId}::uuid`;
        // In this order: an approval locks transfers last.
        await lockCycles(transaction, (await sql<Owner>`select mid, currency ${ofKey}`.execute(transaction)).rows);
        const { rows } = await sql<Transfer>`select * ${ofKey} for update`.execute(transaction);
        const { change, audit, entries } = decide(rows[0]);
        const transfer = { ...(rows[0] as Transfer), ...change };
        await transaction
          .updateTable('transfers')
          .set({ ...change, paidAt: isoOrNull(change.paidAt), returnedAt: isoOrNull(change.returnedAt) })
          .where('transferId', '=', transferId)
          .execute();
        const settled = SETTLED_AS[transfer.state];
        if (settled) await setStates(transaction, [transfer.settlementId], settled);
        await addEntries(clientOf(transaction), entries);
        await appendAudit(transaction, audit);
        const at = change.returnedAt ?? change.paidAt;
        if (at !== null) await tell(transaction, [{ ...transfer, at }]);
        return transfer;
      }),

    recordProviderPayment: ({ recordedAt, ...payment }, entry, audit) =>
      query.transaction().execute(async (transaction) => {
        const inserted = await transaction
          .insertInto('providerPayments')
          .values({ ...payment, recordedAt: iso(recordedAt) })
          .onConflict((conflict) => conflict.columns(['connector', 'reference']).doNothing())
          .executeTakeFirst();
        if (inserted.numInsertedOrUpdatedRows !== 1n) {
          const { rows } = await sql<ProviderPayment>`select ${PROVIDER_PAYMENT} from provider_payments
            where connector = ${payment.connector} and reference = ${payment.reference}`.execute(transaction);
          return rows[0];
        }
        await addEntries(clientOf(transaction), [entry]);
        await appendAudit(transaction, audit);
        return undefined;
      }),

    async listProviderPayments(limit, before) {
      const { rows } = await sql<ProviderPayment>`select ${PROVIDER_PAYMENT} from provider_payments
        where ${before ?? null}::uuid is null or provider_payment_id < ${before ?? null}::uuid
        order by provider_payment_id desc limit ${limit}`.execute(query);
      return rows;
    },
  };
}
