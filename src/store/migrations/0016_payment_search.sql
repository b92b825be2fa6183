-- Indexes for the text search of payments. While they are built, the tables cannot be written: on a large database run
-- this migration at a quiet time.

-- Order ids are compared byte by byte in every database, so that the index of orders serves prefixes as well. The table
-- is not rewritten; only this index is.
alter table payments alter column order_id type some_text collate "C";

-- A sale enters each of these indexes at most once: an open payment (PREPARE and due) is found through payments_due, and
-- enters when it leaves that state. The account comes last, so that payments of other accounts are passed over without
-- reading their rows.
create index payments_by_last_four on payments ((right(details #>> '{card,masked}', 4)), payment_id, mid)
  where details #>> '{card,masked}' is not null and (state <> 'PREPARE' or due_at is null);
-- The lengths keep texts of any size from failing a write: an index entry has a maximum size.
create index payments_by_email on payments ((lower(details #>> '{payer,email}')), payment_id, mid)
  where length(details #>> '{payer,email}') <= 254 and (state <> 'PREPARE' or due_at is null);
create index payments_by_amount on payments (amount, payment_id, mid) where state <> 'PREPARE' or due_at is null;
create index payments_by_reference on payments (provider_reference, payment_id)
  where length(provider_reference) <= 255;
create index payments_by_recurring_token on payments (recurring_token, payment_id) where recurring_token is not null;

create index operations_by_id on operations (operation_id);
