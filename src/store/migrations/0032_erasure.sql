-- Erasure of personal data. While the indexes are built, the table of payments cannot be written: on a large database run
-- this migration at a quiet time.

-- Why a subscription ended before its last charge, if not by request.
alter table subscriptions add column reason text;

-- The payments that need a card of the vault after their outcome: for its token, or for recurring sales.
create index payments_by_card on payments (mid, (details #>> '{card,id}'), payment_id)
  where details #>> '{card,id}' is not null
    and (recurring_token is not null or details #>> '{card,token}' is not null or details ->> 'recurringOf' is not null);

-- The address that the payer entered for the receipt; the index of the e-mail addresses has those that merchants sent.
create index payments_by_receipt_email on payments ((lower(details ->> 'receiptEmail')), payment_id, mid)
  where details ->> 'receiptEmail' is not null;
