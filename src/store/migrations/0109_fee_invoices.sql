-- Fee invoices and their corrections, the numbers that they get, and who issues them.

create table fee_invoice_issuer (
  -- There is one row.
  is_only boolean primary key default true check (is_only),
  name some_text not null,
  address jsonb not null check (jsonb_typeof(address) = 'array'),
  tax_number text not null,
  -- What numbers begin with.
  prefix some_text not null,
  changed_at timestamptz not null
);

-- Each prefix has numbers of its own, from 1. The row is locked until the invoice is written, so that no number is lost.
create table fee_invoice_numbers (
  prefix text primary key,
  last ordinal not null
);

create table fee_invoices (
  mid uuid not null references accounts,
  fee_invoice_id uuid not null,
  prefix text not null,
  sequence ordinal not null,
  kind text not null check (kind in ('invoice', 'credit_note')),
  currency text not null,
  -- The first settlement begins here; null from the beginning.
  from_at timestamptz,
  until_at timestamptz not null,
  -- Fees by category and tax rate, in minor units; what merchants are charged is positive.
  lines jsonb not null check (jsonb_typeof(lines) = 'array'),
  net bigint not null,
  tax bigint not null,
  -- Names and addresses as they were.
  issuer jsonb not null,
  recipient jsonb not null,
  -- The invoice that this credit note takes back, and why.
  corrects uuid,
  reason text,
  issued_by text not null,
  issued_at timestamptz not null,
  primary key (mid, fee_invoice_id),
  unique (prefix, sequence)
);
create index fee_invoices_by_time on fee_invoices (fee_invoice_id);
create unique index fee_invoices_corrected on fee_invoices (corrects) where corrects is not null;

create trigger fee_invoices_are_kept before update or delete on fee_invoices
  for each statement execute function refuse_change_of_prices();

alter table settlements
  -- The invoice of its fees.
  add column fee_invoice_id uuid,
  -- When its fees are invoiced; null if that is done by hand, or was done.
  add column invoice_due_at timestamptz;
create index settlements_invoice_due on settlements (invoice_due_at) where invoice_due_at is not null;
create index settlements_of_fee_invoice on settlements (fee_invoice_id) where fee_invoice_id is not null;
