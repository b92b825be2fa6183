-- Every list of the operator is read along an index. While these indexes are built, the tables cannot be written: on a
-- large database run this migration at a quiet time.

-- With the order first, the claim of an order serves a search by order as well, with an account or without one.
create unique index payments_by_order on payments (order_id, mid, attempt);
alter table payments drop constraint payments_mid_order_id_attempt_key;
alter table payments add constraint payments_mid_order_id_attempt_key unique using index payments_by_order;

-- A sale that is settled at once enters the index by brand once, and the index by state never: a payment that was just
-- opened is due, and is found through payments_due; settled payments are so many that the order of time finds them. The
-- account comes last, so that payments of other accounts are passed over without reading their rows.
create index payments_by_brand on payments (brand, payment_id, mid) where state <> 'PREPARE' or due_at is null;
create index payments_by_state on payments (state, payment_id, mid)
  where state not in ('PREPARE', 'SETTLED') or state = 'PREPARE' and due_at is null;
create index payments_by_schedule on payments (schedule_id, payment_id) where schedule_id is not null;
drop index payments_attention;
create index payments_attention on payments (attention, payment_id) where attention is not null;

create index schedules_by_time on schedules (created_at, schedule_id, mid);
create index schedules_of_account on schedules (mid, created_at, schedule_id);
create index schedules_by_id on schedules (schedule_id, mid);

-- Pages of the subscriptions of a schedule, and how many there are in each state.
create index subscriptions_by_schedule on subscriptions (mid, schedule_id, subscription_id) include (state);
-- Those that are charged next.
create index subscriptions_next on subscriptions (mid, schedule_id, next_at, subscription_id);
drop index subscriptions_of_schedule;

create index news_by_state on news (state, received_at, connector, event_id);
