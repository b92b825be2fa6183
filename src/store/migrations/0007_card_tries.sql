-- The tries of cards, one row each, so that whoever tests stolen cards can be told from a payer who is unlucky.

create table card_tries (
  mid uuid not null,
  -- A try is an attempt of an order; whether it brought a payment stands there.
  order_id some_text not null,
  attempt ordinal not null,
  session_id uuid not null,
  -- Where it came from: a keyed digest, never the address itself.
  source some_text not null,
  at timestamptz not null,
  primary key (mid, order_id, attempt)
);

create index card_tries_of_source on card_tries (mid, source, at);
create index card_tries_by_time on card_tries (mid, at);
