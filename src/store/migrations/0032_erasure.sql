-- Erasure of personal data.
-- outside a transaction

-- Why a subscription ended before its last charge, if not by request.
alter table subscriptions add column if not exists reason text;

-- The payments that need a card of the vault after their outcome: for its token, or for recurring sales.
create index concurrently if not exists payments_by_card on payments (mid, (details #>> '{card,id}'), payment_id)
  where details #>> '{card,id}' is not null
    and (recurring_token is not null or details #>> '{card,token}' is not null or details ->> 'recurringOf' is not null);

-- The address that the payer entered for the receipt; the index of the e-mail addresses has those that merchants sent.
create index concurrently if not exists payments_by_receipt_email on payments ((lower(details ->> 'receiptEmail')), payment_id, mid)
  where details ->> 'receiptEmail' is not null;
