-- What keeps the gateway and its providers in agreement about money: an authorisation that ends is voided at the provider,
-- reports that contradict each other go to the operator, and each connector's due work is claimed apart from the others'.

-- An authorisation whose time is over is voided at the provider before it counts as expired.
alter type operation_verb add value 'expiry';

-- The provider reported a settlement while a void was under way; or a chargeback of a payment that is not settled.
alter type attention add value 'conflict';
alter type attention add value 'unexpected_chargeback';

alter table operations add column connector text;
update operations o set connector = p.connector from payments p where p.mid = o.mid and p.payment_id = o.payment_id;
alter table operations alter column connector set not null;

drop index operations_due;
create index operations_due on operations (connector, due_at) where due_at is not null;
drop index payments_due;
create index payments_due on payments (connector, due_at) where due_at is not null;
drop index news_due;
create index news_due on news (connector, due_at) where due_at is not null;
