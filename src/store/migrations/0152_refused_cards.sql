-- The cards that must not be charged again by any series that began before, by their fingerprint.

create table refused_cards (
  mid uuid not null references accounts,
  fingerprint text not null,
  refused_at timestamptz not null,
  primary key (mid, fingerprint)
);
