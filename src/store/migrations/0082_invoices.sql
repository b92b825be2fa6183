-- Invoices, and the numbers that they get.

create table invoice_numbers (
  mid uuid primary key references accounts,
  -- The number of the newest invoice of the account. Its row is locked until the invoice is written, so no number is lost.
  last int not null
);

create table invoices (
  mid uuid not null references accounts,
  invoice_id uuid not null,
  -- What the address of the invoice ends in.
  code text not null,
  sequence int not null,
  currency text not null,
  -- What is invoiced, with its amounts in minor units.
  lines jsonb not null,
  payer jsonb not null,
  note text not null,
  -- As 2026-11-30.
  due_on text not null,
  total bigint not null,
  tax bigint not null,
  voided_at timestamptz,
  -- How often it was sent by mail, and when last.
  sent_count int not null default 0,
  sent_at timestamptz,
  created_by uuid,
  created_at timestamptz not null,
  primary key (mid, invoice_id),
  unique (mid, sequence)
);
create index invoices_by_code on invoices (code);
create index invoices_by_id on invoices (invoice_id);
