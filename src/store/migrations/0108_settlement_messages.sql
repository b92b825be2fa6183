-- Callbacks and e-mails to merchants about settlements, payouts and bank accounts. A row is written together with what it tells
-- of, and it is the job.
create table settlement_messages (
  mid uuid not null references accounts,
  message_id uuid not null,
  channel text not null check (channel in ('callback', 'mail')),
  type text not null check (type in ('settlement', 'payout', 'bank_account')),
  -- The state that the settlement or the transfer entered.
  status text not null,
  currency text not null,
  settlement_id uuid,
  transfer_id uuid,
  -- The masked number of a bank account, or why a transfer was returned.
  detail text,
  state text not null check (state in ('waiting', 'sent', 'failed')),
  attempts integer not null default 0,
  -- What the receiver answered to the last attempt, or why there was no answer.
  reason text,
  due_at timestamptz,
  created_at timestamptz not null,
  attempted_at timestamptz,
  primary key (mid, message_id),
  constraint waiting_is_due check ((state = 'waiting') = (due_at is not null))
);
create index settlement_messages_due on settlement_messages (due_at) where due_at is not null;
create index settlement_messages_by_time on settlement_messages (message_id);
