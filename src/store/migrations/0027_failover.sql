-- Submissions of a payment that another connection took over, so that a late notification is still matched.

create table former_submissions (
  mid uuid not null,
  payment_id uuid not null,
  submission ordinal not null,
  connector some_text not null,
  provider_reference text,
  -- The state of the connector, without secrets.
  provider_data jsonb,
  at timestamptz not null,
  primary key (mid, payment_id, submission)
);

create index former_submissions_by_provider_reference on former_submissions (connector, provider_reference)
  where provider_reference is not null;
