/** Bank accounts of merchants, and of the installation, from which payouts go; their details are sealed. */
import { sql } from 'kysely';
import { type AuditActor, type AuditEntry, appendAudit } from '../audit/audit.ts';
import { iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { Decision } from '../database/decision.ts';
import { lockCycles } from './cycles.ts';
import { writeMessages } from './messages.ts';

export interface BankAccount {
  mid: string;
  currency: string;
  version: number;
  sealed: Buffer;
  masked: string;
  changedAt: number;
  heldUntil: number | null;
  authorKind: AuditActor['kind'];
  authorId: string | null;
  authorName: string;
}

export type PayoutAccount = Pick<BankAccount, 'currency' | 'sealed' | 'masked' | 'changedAt'>;

export interface BankAccountStore {
  ofAccount(mid: string): Promise<BankAccount[]>;
  /** Changes the account of a currency, decided from the one before. */
  change(
    mid: string,
    currency: string,
    decide: (current: BankAccount | undefined) => Decision<BankAccount>,
  ): Promise<BankAccount>;
  payoutAccounts(): Promise<PayoutAccount[]>;
  changePayoutAccount(account: PayoutAccount, audit: AuditEntry): Promise<void>;
}

export function createBankAccountStore({ query }: Database): BankAccountStore {
  return {
    async ofAccount(mid) {
      const found = query.selectFrom('bankAccounts').selectAll().where('mid', '=', mid).orderBy('currency');
      return (await found.execute()) as BankAccount[];
    },
    change: (mid, currency, decide) =>
      query.transaction().execute(async (transaction) => {
        await lockCycles(transaction, [{ mid, currency }]);
        const { rows } = await sql<BankAccount>`select * from bank_accounts
          where mid = ${mid} and currency = ${currency}`.execute(transaction);
        const { change, audit } = decide(rows[0]);
        const row = { ...change, changedAt: iso(change.changedAt), heldUntil: isoOrNull(change.heldUntil) };
        const { mid: _, currency: __, ...changed } = row;
        await transaction
          .insertInto('bankAccounts')
          .values(row)
          .onConflict((conflict) => conflict.columns(['mid', 'currency']).doUpdateSet(changed))
          .execute();
        await appendAudit(transaction, audit);
        const isReplaced = rows[0] !== undefined && rows[0].version !== change.version;
        if (isReplaced) {
          const none = { settlementId: null, transferId: null };
          const told = { mid, currency, ...none, detail: change.masked, at: change.changedAt };
          await writeMessages(transaction, [{ type: 'bank_account', status: 'changed', ...told }]);
        }
        return change;
      }),
    async payoutAccounts() {
      return (await query.selectFrom('payoutAccounts').selectAll().orderBy('currency').execute()) as PayoutAccount[];
    },
    changePayoutAccount: ({ currency, changedAt, ...account }, audit) =>
      query.transaction().execute(async (transaction) => {
        const changed = { ...account, changedAt: iso(changedAt) };
        await transaction
          .insertInto('payoutAccounts')
          .values({ currency, ...changed })
          .onConflict((conflict) => conflict.column('currency').doUpdateSet(changed))
          .execute();
        await appendAudit(transaction, audit);
      }),
  };
}
