-- The series of payments whose card must not be charged again, by their first payment.

create table refused_series (
  mid uuid not null references accounts,
  first_payment_id uuid not null,
  refused_at timestamptz not null,
  primary key (mid, first_payment_id)
);
