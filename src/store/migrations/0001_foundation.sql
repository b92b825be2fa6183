-- The ground floor: accounts, payments, their history, and the few facts about the installation itself.
-- Every table of merchants' data is keyed by the account (mid) first, so that accounts can be spread over shards.

-- What can be said of a single value is said by its type. PostgreSQL prepares the checks of a table anew for every
-- statement, and those of a type once per connection; on the path of every payment that is a difference.
create type environment as enum ('sandbox', 'production');
create type protocol as enum ('checkout', 's2s');
create type actor as enum ('merchant', 'provider', 'payer', 'operator', 'clock');
create type payment_state as enum (
  'PREPARE', 'REDIRECT', '3DS', 'PENDING', 'SETTLED', 'DECLINED',
  'VOID', 'REVERSAL', 'REFUND', 'CHARGEBACK', 'EXPIRED'
);
create domain some_text as text check (value <> '');
create domain currency_code as text check (value ~ '^[A-Z]{3}$');
create domain positive_amount as bigint check (value > 0);
create domain ordinal as integer check (value >= 1);
create domain json_record as jsonb check (jsonb_typeof(value) = 'object');

create table accounts (
  mid uuid primary key,
  name some_text not null,
  environment environment not null,
  client_key some_text not null unique,
  merchant_key some_text not null unique,
  password bytea not null,
  previous_password bytea,
  previous_password_until timestamptz,
  callback_secret bytea not null,
  settings json_record not null,
  created_at timestamptz not null,
  check ((previous_password is null) = (previous_password_until is null))
);

create table payments (
  mid uuid not null,
  payment_id uuid not null,
  order_id some_text not null,
  -- An order that failed may be tried again; each try is a payment of its own, numbered from 1.
  attempt ordinal not null,
  protocol protocol not null,
  brand some_text not null,
  connector some_text not null,
  state payment_state not null,
  -- The number of the newest history row; the guarded update counts it up, so the history has no gaps.
  history_length ordinal not null,
  amount_text some_text not null,
  currency currency_code not null,
  -- Minor units of the currency.
  amount positive_amount not null,
  authorised bigint not null default 0,
  captured bigint not null default 0,
  refunded bigint not null default 0,
  -- The provider was asked and did not answer: what happened to the money is not known yet.
  in_doubt boolean not null default false,
  -- When the work loop has to look at this payment; the row is the job.
  due_at timestamptz,
  -- How often the provider was asked about it in vain.
  asked integer not null default 0,
  is_authorisation boolean not null,
  is_recurring_init boolean not null,
  -- What the request said, so that a repeat can be told from another request under the same order_id.
  fingerprint text not null,
  descriptor text not null,
  decline_reason text,
  recurring_token text,
  schedule_id uuid,
  provider_reference text,
  -- The rest of the request: description, payer, addresses, custom data.
  details json_record not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (mid, payment_id),
  -- One payment per try of an order: whoever inserts first has claimed it.
  unique (mid, order_id, attempt),
  constraint money_is_conserved check (
    0 <= refunded and refunded <= captured and captured <= authorised and authorised <= amount
  ),
  constraint captured_fits_state check ((state in ('SETTLED', 'REFUND', 'CHARGEBACK')) = (captured > 0)),
  constraint declined_has_a_reason check (state <> 'DECLINED' or decline_reason is not null)
) with (fillfactor = 80);

create index payments_by_time on payments (payment_id);
create index payments_due on payments (due_at) where due_at is not null;

create table history (
  mid uuid not null,
  payment_id uuid not null,
  seq ordinal not null,
  event some_text not null,
  from_state payment_state,
  to_state payment_state not null,
  actor actor not null,
  -- The provider call that brought the event, when one did: verb, connector, answer, duration.
  call jsonb,
  at timestamptz not null,
  primary key (mid, payment_id, seq),
  constraint first_row_opens check ((seq = 1) = (from_state is null)),
  constraint moves_are_legal check (
    case from_state
      when to_state then true
      when 'PREPARE' then to_state in ('REDIRECT', '3DS', 'PENDING', 'SETTLED', 'DECLINED')
      when 'REDIRECT' then to_state in ('PENDING', 'SETTLED', 'DECLINED')
      when '3DS' then to_state in ('PENDING', 'SETTLED', 'DECLINED')
      when 'PENDING' then to_state in ('SETTLED', 'DECLINED', 'VOID', 'REVERSAL', 'EXPIRED')
      when 'SETTLED' then to_state in ('REFUND', 'CHARGEBACK')
      else from_state is null and to_state = 'PREPARE'
    end
  )
);

-- How far the sandbox clock runs ahead, for everybody (no mid) or for one account.
create table clock_offsets (
  mid uuid unique nulls not distinct,
  offset_ms bigint not null check (offset_ms >= 0)
);

-- Facts about this installation: the digest of the admin token, a sealed word that proves the master key.
create table installation (
  name text primary key,
  value bytea not null
);
