-- What was charged back as fraud at each connection in a quarter, beside what was captured there; computed at intervals.
create table risk_fraud_rates (
  connector text not null,
  quarter timestamptz not null,
  currency text not null,
  captured bigint not null,
  fraud bigint not null,
  computed_at timestamptz not null,
  primary key (connector, quarter, currency)
);
