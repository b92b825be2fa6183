-- Lists of callbacks, newest first, for every filter: of each state apart, and merged where none is asked for.
create index callbacks_of_account on callbacks (mid, state, created_at);
create index callbacks_by_time on callbacks (state, created_at);
drop index callbacks_parked;
