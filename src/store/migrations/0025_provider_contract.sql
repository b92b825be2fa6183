-- What connectors store with payments and operations, and notifications that name what they are about in other ways.
-- outside a transaction

alter table payments
  -- The state of the connector and what repetitions need, as the provider returned it; null if it returned nothing.
  add column if not exists provider_data jsonb,
  -- Why the payment went to its connection; null if it went to the installation's own provider.
  add column if not exists route_reason text;

-- Payments of a connection have a connector such as `stripe/01a1dd06-…`; a notification may name them by this id only.
create index concurrently if not exists payments_by_provider_reference on payments (connector, provider_reference)
  where provider_reference is not null and connector like '%/%';

alter table operations
  add column if not exists provider_reference text,
  add column if not exists provider_state jsonb;

alter table provider_notifications
  alter column reference drop not null,
  add column if not exists provider_reference text,
  add column if not exists operation text,
  add column if not exists operation_reference text;
