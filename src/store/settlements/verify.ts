/** Checks settlements: that they have the entries of the ledger, that their amounts add up, and that reserves are released once. */

const AMOUNTS = (column: string): string =>
  `(select coalesce(sum((one ->> 'amount')::bigint), 0) from jsonb_array_elements(s.${column}) one)`;

/** While the ledger is being built, it does not contain all entries. */
const IS_BUILT = `not exists (select from projections where name = 'ledger' and backfill_before is not null)`;

/** A text for each violation, in the column `violation`. */
export const SETTLEMENT_VIOLATIONS = `
  (select 'A settled entry is not in the ledger, or differs from it: ' || s.entry_id as violation
   from settlement_entries s left join ledger_entries e using (source_id, seq, category)
   where ${IS_BUILT} and s.amount is distinct from (
     select -sum(p.amount) from unnest(e.accounts, e.amounts) p(account, amount)
     where p.account = 'merchant:' || s.mid || ':balance') limit 100)
  union all
  (select 'The total of a month differs from its settled entries: ' || concat_ws(' ', mid, currency, month)
   from settlement_totals t full join (
     select mid, currency, date_trunc('month', posted_at, 'UTC') as month, sum(greatest(-amount, 0)) as debit,
       sum(greatest(amount, 0)) as credit
     from settlement_entries group by 1, 2, 3) e using (mid, currency, month)
   where coalesce(t.debit, 0) <> coalesce(e.debit, 0) or coalesce(t.credit, 0) <> coalesce(e.credit, 0) limit 100)
  union all
  (select 'The lines of a settlement do not give its closing balance: ' || s.settlement_id from settlements s
   where s.opening + ${AMOUNTS('lines')} <> s.closing limit 100)
  union all
  (select 'The entries of a settlement do not give its lines: ' || s.settlement_id from settlements s
   where s.state <> 'void' and ${AMOUNTS('lines')} <> (
     select coalesce(sum(amount), 0) from settlement_entries e where e.settlement_id = s.settlement_id) limit 100)
  union all
  (select 'The payout of a settlement is not what is left of its closing balance: ' || s.settlement_id from settlements s
   where s.closing - ${AMOUNTS('withheld')} <> s.payout limit 100)
  union all
  (select 'A settlement does not begin where the one before ends: ' || settlement_id from (
     select settlement_id, opening, lag(closing, 1, 0::bigint) over (partition by mid, currency order by number) as before
     from settlements where state <> 'void') s
   where opening <> before limit 100)
  union all
  (select 'The numbers of fee invoices have gaps: ' || n.prefix from fee_invoice_numbers n
   where n.last <> (select count(*) from fee_invoices i where i.prefix = n.prefix) limit 100)
  union all
  (select 'A fee invoice does not have the fees of its settlements: ' || i.fee_invoice_id
   from fee_invoices i join settlements s on s.fee_invoice_id = i.fee_invoice_id
   join settlement_entries e on e.settlement_id = s.settlement_id
   where e.category like 'fee.%' or e.category like 'fee_returned.%'
   group by i.mid, i.fee_invoice_id, i.net, i.tax having i.net + i.tax <> -sum(e.amount) limit 100)
  union all
  (select 'The reserve of an account is not what waits to be released: ' || account || ' ' || currency from (
     select account, currency, sum(credit - debit) as amount from ledger_sums where account like 'merchant:%:reserve'
     group by 1, 2) held
   full join (
     select 'merchant:' || mid || ':reserve' as account, currency, sum(amount) as amount from reserve_slices
     where due_at is not null group by 1, 2) waiting using (account, currency)
   where ${IS_BUILT} and coalesce(held.amount, 0) <> coalesce(waiting.amount, 0) limit 100)`;
