-- outside a transaction
-- A credit that names the card number finds the sales of that card; an erased card keeps its fingerprint.
create index concurrently if not exists cards_by_fingerprint on cards (mid, fingerprint, payment_id);
