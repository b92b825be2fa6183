-- Receipts by e-mail. The row is written together with the settlement of its payment, and it is the job. The address and
-- the content are those of the payment.

create type receipt_state as enum ('waiting', 'sent', 'failed');

create table receipts (
  mid uuid not null,
  payment_id uuid not null,
  state receipt_state not null default 'waiting',
  attempts integer not null default 0,
  -- What the mail server answered to the last attempt, or why there was no answer.
  reason text,
  due_at timestamptz,
  created_at timestamptz not null,
  attempted_at timestamptz,
  -- A payment has one receipt, however often it is reported as settled.
  primary key (mid, payment_id),
  constraint waiting_is_due check ((state = 'waiting') = (due_at is not null))
);

create index receipts_due on receipts (due_at) where due_at is not null;
