-- The vault: keys that are replaced under the cards, a key that stays, and money paid back to a card by its token.

-- A card without its key could never be opened again: no key goes before its last card, and no card comes after its key.
alter table cards add foreign key (mid, key_version) references data_keys (mid, version);

create index cards_by_key on cards (mid, key_version);
-- A token of another account is told from one that nobody has.
create index cards_by_token on cards (token);

-- What makes the fingerprints of an account's cards. It stays when all other keys are replaced, or no two cards would
-- be the same any more.
create table fingerprint_keys (
  mid uuid primary key,
  sealed bytea not null,
  created_at timestamptz not null
);

alter type operation_verb add value 'credit';

-- Credits claim what they are known by before they begin, so that a repeat finds them.
create table credits (
  mid uuid not null,
  order_id some_text not null,
  -- Empty when the order is the credit's own; under the order of its payment a credit is one of several, told apart by
  -- what it says.
  part text not null,
  -- What the request said.
  fingerprint some_text not null,
  -- The operation that it is, or will be.
  operation_id uuid not null,
  created_at timestamptz not null,
  primary key (mid, order_id, part)
);
