-- Users of a merchant: their roles, the limit of their refunds, and who requested an operation.

alter type role add value 'merchant_accountant';
alter type role add value 'merchant_support';
alter type role add value 'merchant_cashier';

-- The new values cannot be compared in the transaction that adds them, so the roles are compared as texts.
alter table api_tokens
  -- The most that the user refunds of one payment, a decimal number in the currency of the payment; null for no limit.
  add column refund_limit text,
  drop constraint merchants_see_their_accounts_only,
  add constraint merchants_see_their_accounts_only check (role::text not like 'merchant%' or mids is not null);

alter table operators
  add column refund_limit text,
  drop constraint merchants_see_their_accounts_only,
  add constraint merchants_see_their_accounts_only check (role::text not like 'merchant%' or mids is not null);

-- The operator or token that requested the operation; null for the merchant's server, the payer and the clock.
alter table operations add column requested_by uuid;
