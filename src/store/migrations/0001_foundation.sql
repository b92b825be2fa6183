-- The ground floor: accounts, payments, their history, and the few facts about the installation itself.
-- Every table of merchants' data is keyed by the account (mid) first, so that accounts can be spread over shards.

create table accounts (
  mid uuid primary key,
  name text not null check (name <> ''),
  environment text not null check (environment in ('sandbox', 'production')),
  client_key text not null unique,
  merchant_key text not null unique,
  password bytea not null,
  previous_password bytea,
  previous_password_until timestamptz,
  callback_secret bytea not null,
  settings jsonb not null check (jsonb_typeof(settings) = 'object'),
  created_at timestamptz not null,
  check ((previous_password is null) = (previous_password_until is null))
);

create table payments (
  mid uuid not null,
  payment_id uuid not null,
  order_id text not null check (order_id <> ''),
  -- An order that failed may be tried again; each try is a payment of its own, numbered from 1.
  attempt integer not null check (attempt >= 1),
  protocol text not null check (protocol in ('checkout', 's2s')),
  brand text not null,
  connector text not null,
  state text not null check (state in (
    'PREPARE', 'REDIRECT', '3DS', 'PENDING', 'SETTLED', 'DECLINED',
    'VOID', 'REVERSAL', 'REFUND', 'CHARGEBACK', 'EXPIRED'
  )),
  -- The number of the newest history row; the guarded update counts it up, so the history has no gaps.
  history_length integer not null check (history_length >= 1),
  amount_text text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- Minor units of the currency.
  amount bigint not null check (amount > 0),
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
  details jsonb not null check (jsonb_typeof(details) = 'object'),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (mid, payment_id),
  -- One payment per try of an order: whoever inserts first has claimed it.
  unique (mid, order_id, attempt),
  constraint money_is_conserved check (
    0 <= refunded and refunded <= captured and captured <= authorised and authorised <= amount
  ),
  constraint settled_is_captured check (state not in ('SETTLED', 'REFUND', 'CHARGEBACK') or captured > 0),
  constraint unpaid_is_not_captured check (
    state not in ('PREPARE', 'REDIRECT', '3DS', 'PENDING', 'DECLINED', 'VOID', 'REVERSAL', 'EXPIRED') or captured = 0
  ),
  constraint declined_has_a_reason check (state <> 'DECLINED' or decline_reason is not null)
) with (fillfactor = 80);

create index payments_by_time on payments (payment_id);
create index payments_due on payments (due_at) where due_at is not null;

create table history (
  mid uuid not null,
  payment_id uuid not null,
  seq integer not null check (seq >= 1),
  event text not null,
  from_state text,
  to_state text not null,
  actor text not null check (actor in ('merchant', 'provider', 'payer', 'operator', 'clock')),
  -- The provider call that brought the event, when one did: verb, connector, answer, duration.
  call jsonb,
  at timestamptz not null,
  primary key (mid, payment_id, seq),
  constraint first_row_opens check ((seq = 1) = (from_state is null)),
  constraint moves_are_legal check (
    (from_state is null and to_state = 'PREPARE')
    or from_state = to_state
    or from_state || '>' || to_state in (
      '3DS>DECLINED', '3DS>PENDING', '3DS>SETTLED',
      'PENDING>DECLINED', 'PENDING>EXPIRED', 'PENDING>REVERSAL', 'PENDING>SETTLED', 'PENDING>VOID',
      'PREPARE>3DS', 'PREPARE>DECLINED', 'PREPARE>PENDING', 'PREPARE>REDIRECT', 'PREPARE>SETTLED',
      'REDIRECT>DECLINED', 'REDIRECT>PENDING', 'REDIRECT>SETTLED',
      'SETTLED>CHARGEBACK', 'SETTLED>REFUND'
    )
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
