-- outside a transaction
-- Callbacks that were tried and given up are counted without reading those of accounts that have no address.
create index concurrently if not exists callbacks_given_up on callbacks (mid) where state = 'parked' and attempts > 0;
