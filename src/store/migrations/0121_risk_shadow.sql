-- outside a transaction
-- The payments that rules which only watch have matched, for the report on them. Other payments have no entry.
create index concurrently if not exists risk_decisions_watched on risk_decisions (at) where shadow <> '[]';
