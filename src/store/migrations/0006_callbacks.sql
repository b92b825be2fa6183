-- What merchants are told: each change of a payment, written with it, and each try to deliver it.

create type callback_state as enum ('waiting', 'delivered', 'parked');

create table callbacks (
  mid uuid not null,
  payment_id uuid not null,
  -- The history row that it tells of; so its number grows with every event of the payment.
  seq ordinal not null,
  type some_text not null,
  -- What is sent and signed: at every try the same bytes.
  body text not null,
  is_json boolean not null,
  -- The address that this payment was given; where it has none, the account's own at the time of each try.
  url text,
  -- Whose answers count together: a number for the origin of that address, or nothing for the account's own.
  endpoint text not null,
  state callback_state not null,
  -- Why it was parked.
  reason text,
  -- How often it was sent, and how far up the ladder of pauses it has come since it was last asked for.
  tries integer not null default 0,
  rung integer not null default 0,
  -- When it is sent next, or given back by a process that took it and died; the row is the job.
  due_at timestamptz,
  created_at timestamptz not null,
  finished_at timestamptz,
  primary key (mid, payment_id, seq)
) with (fillfactor = 80);

create index callbacks_due on callbacks (mid, endpoint, due_at) where due_at is not null;

create table callback_tries (
  mid uuid not null,
  payment_id uuid not null,
  seq ordinal not null,
  try ordinal not null,
  at timestamptz not null,
  -- What the receiver answered, or why there was no answer.
  status integer,
  fault text,
  took_ms integer not null,
  primary key (mid, payment_id, seq, try)
);

-- While the secret that signs callbacks is replaced, both sign.
alter table accounts
  add column previous_callback_secret bytea,
  add column previous_callback_secret_until timestamptz,
  add check ((previous_callback_secret is null) = (previous_callback_secret_until is null));
