-- The operator looks for callbacks that were given up, and they are few among many.
create index callbacks_parked on callbacks (payment_id, seq) where state = 'parked';

-- The sandbox's own server for callbacks, one for each account: how many arrived, and what it answers.
create table receivers (
  mid uuid primary key,
  -- Counted under the lock of the row, so a later number is never seen before an earlier one.
  received integer not null default 0,
  -- This is answered in place of 200, up to and including the callback with this number.
  answer integer not null default 200 check (answer between 200 and 599),
  answer_until integer not null default 0
);

create table received_callbacks (
  mid uuid not null,
  number ordinal not null,
  headers json_record not null,
  body bytea not null,
  -- Whether they were right when it arrived: secrets and passwords change.
  is_hash_valid boolean not null,
  is_signature_valid boolean not null,
  answer integer not null,
  received_at timestamptz not null,
  primary key (mid, number)
);
