-- Payment links, and the orders that payers began from a link or an invoice.

create table links (
  mid uuid not null references accounts,
  link_id uuid not null,
  -- What the address of the link ends in.
  code text not null,
  title text not null,
  description text not null,
  currency text not null,
  -- The amount, or its bounds if the payer chooses it.
  amount bigint,
  min_amount bigint,
  max_amount bigint,
  -- How often the link can be paid; null for any number.
  uses int,
  valid_until timestamptz,
  methods text[] not null,
  locale text not null,
  success_url text not null,
  -- What the payer is asked for.
  ask text[] not null,
  is_authorisation boolean not null,
  order_prefix text not null,
  is_active boolean not null default true,
  -- The operator or token that made it; null for the merchant's server.
  created_by uuid,
  created_at timestamptz not null,
  primary key (mid, link_id),
  constraint link_has_an_amount check ((amount is null) = (min_amount is not null and max_amount is not null))
);
create index links_by_code on links (code);
create index links_by_id on links (link_id);

create table begun_orders (
  mid uuid not null,
  order_id text not null,
  -- The link or the invoice that the payer began from.
  source_id uuid not null,
  -- When the payer first submitted a payment of the order: from then on it holds a use, until its payments have failed.
  claimed_at timestamptz,
  created_at timestamptz not null,
  primary key (mid, order_id)
);
create index begun_orders_of_source on begun_orders (mid, source_id, claimed_at);
