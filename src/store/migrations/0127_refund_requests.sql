-- Refunds that need two persons: one requests, another one approves, and only then the refund is sent.
create table refund_requests (
  mid uuid not null references accounts,
  request_id uuid not null,
  payment_id uuid not null,
  -- The operation that the approval makes, and what its request contained: a repeated request gets the same answer.
  operation_id uuid not null,
  content text not null,
  currency text not null,
  amount positive_amount not null,
  note text,
  state text not null check (state in ('waiting', 'approved', 'refused')),
  -- Who requested it; the id is null for the configured token. The limit of its refunds at that time.
  author_kind text not null,
  author_id uuid,
  author_name text not null,
  author_limit text,
  requested_at timestamptz not null,
  decided_by text,
  decided_at timestamptz,
  -- An approved refund is sent then, if the process that approved it has not sent it.
  due_at timestamptz,
  primary key (mid, request_id),
  unique (mid, operation_id),
  constraint is_decided check ((state = 'waiting') = (decided_at is null)),
  constraint is_due_when_approved check (due_at is null or state = 'approved')
);
create index refund_requests_by_time on refund_requests (request_id);
create index refund_requests_of_payment on refund_requests (mid, payment_id);
create index refund_requests_waiting on refund_requests (mid) where state = 'waiting';
create index refund_requests_due on refund_requests (due_at) where due_at is not null;
