-- What lists and the text search of payments read, derived from the history and the payments themselves, so that a sale
-- pays for none of their indexes.

create table payment_search (
  mid uuid not null,
  payment_id uuid not null,
  -- The length of the history at which the payment was read: an older reading never replaces a newer one.
  history_length integer not null,
  -- Its place among the blocks of rows, which it keeps; null until the projection has given it one.
  ordinal bigint,
  created_at timestamptz not null,
  state payment_state not null,
  brand text not null,
  connection text not null,
  currency text not null,
  amount bigint not null,
  attention attention,
  schedule_id uuid,
  network text,
  country text,
  provider_reference text,
  -- The card whose removal from the vault concerns this payment.
  card_id uuid,
  -- What the text search compares: the fields, normalised, one on each line.
  text text not null collate "C",
  -- Ids contain the time, so that rows of all accounts are added at the end of the index.
  primary key (payment_id, mid)
) with (autovacuum_vacuum_scale_factor = 0.03, autovacuum_analyze_scale_factor = 0.03);

create index payment_search_by_ordinal on payment_search (ordinal);
create index payment_search_by_time on payment_search (created_at, payment_id);
create index payment_search_of_account on payment_search (mid, created_at, payment_id);
-- The length keeps a text of any size from failing a write: an index entry has a maximum size.
create index payment_search_by_reference on payment_search (provider_reference, payment_id)
  where length(provider_reference) <= 255;
create index payment_search_by_card on payment_search (mid, card_id) where card_id is not null;

-- A segment is a range of ordinals whose rows have bits; those of its rows were created from first_at to last_at.
create table payment_search_segments (
  segment bigint primary key,
  first_at timestamptz not null,
  last_at timestamptz not null
);

-- For each term, by its hash, in which blocks of the segment it occurs.
create table payment_search_bits (
  chunk integer not null,
  segment bigint not null,
  bits bytea not null,
  primary key (chunk, segment)
);
-- Bits are read by their place, and a chunk is smaller than what is stored out of line.
alter table payment_search_bits alter column bits set storage plain;

-- In a new database the projection begins with the first payment; in others it is built from what exists.
insert into projections (name, history_number, callback_attempts_number)
select 'search', 0, 0 where not exists (select from payments);
