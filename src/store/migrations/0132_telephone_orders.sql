-- Who took an order on the phone.

create table telephone_orders (
  mid uuid not null references accounts,
  -- The first payment of the order; later attempts have the same order number.
  payment_id uuid not null,
  order_id text not null,
  -- The operator or token that took it; null for the token of the configuration.
  taken_by uuid,
  created_at timestamptz not null,
  primary key (mid, payment_id)
);
create index telephone_orders_of_taker on telephone_orders (taken_by, payment_id);
