-- Connections: credentials at providers, and the routes by which an account uses them.

create table connections (
  connection_id uuid primary key,
  connector some_text not null,
  name some_text not null,
  -- The accounts that may use it; null means all.
  mids uuid[] check (cardinality(mids) > 0),
  -- Sealed JSON.
  credentials bytea not null,
  settings json_record not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- A deleted connection takes no new payments; its payments can still be queried and refunded.
  deleted_at timestamptz
);

-- In order of priority; without routes an account uses the installation's own provider.
alter table accounts add column routes jsonb not null default '[]' check (jsonb_typeof(routes) = 'array');
