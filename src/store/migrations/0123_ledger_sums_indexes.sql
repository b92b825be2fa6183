-- outside a transaction
-- Finds what becomes available later, and the hours of a day, without reading all sums of an account or of the ledger.
create index concurrently if not exists ledger_sums_available on ledger_sums (account, available_on);
create index concurrently if not exists ledger_sums_by_hour on ledger_sums (hour);
