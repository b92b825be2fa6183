-- Recent calls of merchants, masked before they are written; the work loop deletes old ones. A refused call whose account
-- is not known has the nil UUID as its account.
create table api_calls (
  mid uuid not null,
  call_id uuid not null,
  at timestamptz not null,
  request_id text not null,
  protocol text not null check (protocol in ('s2s', 'checkout')),
  action text not null,
  address text not null,
  order_id text,
  payment_id uuid,
  status integer not null,
  -- The name of the refusal; null for an accepted call.
  error text,
  took_ms integer not null,
  -- Pairs of names and values, in their order.
  request jsonb not null,
  answer text not null,
  -- What the hash debugger found when the hash of the call was refused.
  explanation jsonb,
  primary key (mid, call_id)
);
create index api_calls_by_time on api_calls (call_id);
create index api_calls_refused on api_calls (call_id) where error is not null;
create index api_calls_by_action on api_calls (action, call_id);
create index api_calls_by_error on api_calls (error, call_id) where error is not null;
create index api_calls_by_order on api_calls (order_id, call_id) where order_id is not null;
create index api_calls_by_payment on api_calls (payment_id, call_id) where payment_id is not null;
