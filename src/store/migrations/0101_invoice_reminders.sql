-- Reminders of invoices: when the next one is due, which one it is, and how often it was tried.

alter table invoices
  add column due_at timestamptz,
  add column reminder int not null default 0,
  add column reminder_attempts int not null default 0;
create index invoices_due on invoices (due_at) where due_at is not null;
