-- What a provider charged for a row of a statement, and the history row that it was compared with: real costs go to the ledger.
alter table reconciliation_rows
  add column fee bigint,
  add column our_seq integer;
