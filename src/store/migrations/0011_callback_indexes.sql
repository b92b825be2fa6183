-- Lists of callbacks, newest first, for every filter: of each state apart, and merged where none is asked for.
create index callbacks_of_account on callbacks (mid, state, created_at);
create index callbacks_by_time on callbacks (state, created_at);
drop index callbacks_parked;

-- Which endpoints have something due, without a look at all that wait for a later try. What is due for one endpoint is
-- in callbacks_due.
create index callbacks_by_due_time on callbacks (due_at, mid, endpoint) where due_at is not null;

-- Whether due_at is the end of a lease. Without it, a callback that is under way looks like one that waits a while.
alter table callbacks add column is_taken boolean not null default false;
