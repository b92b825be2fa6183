-- Risk rules: lists, rules with their versions, the decision about each payment, and data of card ranges and networks.

-- Counts the changes of rules, so that a process notices with a payment's own statement that it has old ones.
create table risk_version (
  is_only boolean primary key default true check (is_only),
  version integer not null default 1
);
insert into risk_version default values;

-- Without an account, a list or a rule belongs to the installation.
create table risk_lists (
  list_id uuid primary key,
  mid uuid references accounts,
  name text not null,
  kind text not null,
  created_at timestamptz not null
);

create table risk_list_entries (
  list_id uuid not null references risk_lists on delete cascade,
  entry_id uuid not null,
  -- In the form in which it is compared; a card is its fingerprint.
  value text not null,
  reason text,
  expires_at timestamptz,
  created_by text not null,
  created_at timestamptz not null,
  primary key (list_id, entry_id),
  unique (list_id, value)
);

create table risk_rules (
  rule_id uuid primary key,
  mid uuid references accounts,
  version integer not null,
  name text not null,
  condition jsonb not null,
  action jsonb not null,
  state text not null,
  priority integer not null,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  deleted_at timestamptz
);

-- Decisions refer to these.
create table risk_rule_versions (
  rule_id uuid not null references risk_rules,
  version integer not null,
  name text not null,
  condition jsonb not null,
  action jsonb not null,
  state text not null,
  priority integer not null,
  made_by text not null,
  made_at timestamptz not null,
  primary key (rule_id, version)
);

-- The decision about a payment, which is also what velocities count: the keys are keyed digests.
create table risk_decisions (
  mid uuid not null,
  payment_id uuid not null,
  at timestamptz not null,
  amount bigint not null,
  currency text not null,
  card_key text,
  email_key text,
  ip_key text,
  phone_key text,
  payer_country_key text,
  decision text not null,
  score integer not null,
  rules jsonb not null,
  shadow jsonb not null,
  three_ds jsonb not null,
  -- What was known of the payment, without card number, addresses and phone number.
  input jsonb not null,
  -- Why the rules could not be evaluated.
  failure text,
  -- A payment that waits for a person: waiting, approved, refused, or over if the payment ended by itself.
  review_state text,
  review_then text,
  -- When the work loop decides, or carries out what was decided; null once that is done.
  review_due_at timestamptz,
  reviewed_at timestamptz,
  reviewed_by text,
  review_note text,
  primary key (mid, payment_id)
);
create index risk_decisions_by_card on risk_decisions (card_key, at) where card_key is not null;
create index risk_decisions_by_email on risk_decisions (email_key, at) where email_key is not null;
create index risk_decisions_by_ip on risk_decisions (ip_key, at) where ip_key is not null;
create index risk_decisions_by_phone on risk_decisions (phone_key, at) where phone_key is not null;
create index risk_decisions_by_country on risk_decisions (payer_country_key, at) where payer_country_key is not null;
create index risk_reviews_due on risk_decisions (review_due_at, payment_id) where review_due_at is not null;

-- Ranges of card numbers, padded to twelve digits.
create table risk_bins (
  first_number bigint primary key,
  last_number bigint not null,
  network text,
  country text,
  funding text,
  issuer text
);

-- Networks of IP addresses in canonical text.
create table risk_ip_countries (
  network text primary key,
  country text not null
);

-- A rule that is tried on earlier payments, in the background.
create table risk_back_tests (
  back_test_id uuid primary key,
  -- The account whose payments are read; null for all.
  mid uuid references accounts,
  rule jsonb not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  state text not null,
  seen integer not null default 0,
  hits integer not null default 0,
  amounts jsonb not null default '{}',
  settled integer not null default 0,
  refunded integer not null default 0,
  charged_back integer not null default 0,
  failure text,
  created_by text not null,
  created_at timestamptz not null,
  -- Set while a process works on it; another one may go on after a while.
  progress_at timestamptz
);
create index risk_back_tests_running on risk_back_tests (created_at) where state = 'running';
