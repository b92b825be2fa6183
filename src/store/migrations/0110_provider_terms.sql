-- How long a provider takes to pay; what is not paid yet is expected until then.
create table provider_terms (
  connector text primary key,
  days integer not null check (days >= 0),
  changed_at timestamptz not null
);
