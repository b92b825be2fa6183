-- outside a transaction
-- Finds the newest rows by their numbers. The BRIN index before it did not contain the rows since its last summary, which
-- autovacuum makes once a minute at most: each fold and each reader of a tail read all of them.
create index concurrently if not exists history_in_order on history (number);
drop index concurrently if exists history_by_number;
