-- Payers who are sent elsewhere, news that providers send, and what an operator has to look at.

-- Why an operator should look at a payment: money that moved after it was given up, an amount that cannot be right,
-- or an outcome that nobody could tell however often they were asked.
create type attention as enum ('late_success', 'wrong_amount', 'unresolved');

alter table payments
  -- Until when the payer may finish; null when no payer is waited for.
  add column payer_until timestamptz,
  -- What the payer has to do next: a page to go to, a code to scan, an account to pay to.
  add column next_step jsonb,
  add column attention attention;

create index payments_attention on payments (payment_id) where attention is not null;

create type news_state as enum ('new', 'applied', 'unmatched');

-- What providers told us, each event once; the row is the job until it is applied.
create table news (
  connector some_text not null,
  event_id some_text not null,
  -- The payment it is about, as the provider names it: that is our own id, if the provider is right.
  reference text not null,
  body json_record not null,
  state news_state not null default 'new',
  tries integer not null default 0,
  due_at timestamptz,
  received_at timestamptz not null,
  primary key (connector, event_id)
);

create index news_due on news (due_at) where due_at is not null;
create index news_by_reference on news (reference);
