-- Which methods are active at the provider of a connection, by the last check that could say so.

alter table connections
  -- The provider's names of the active methods; null if the provider does not say.
  add column active_methods text[],
  -- When they are read again; null if the provider cannot list them.
  add column methods_due_at timestamptz;

update connections set methods_due_at = now() where connector in ('adyen', 'mollie', 'stripe', 'stripe-hosted');

create index connections_by_methods_due on connections (methods_due_at) where methods_due_at is not null;
