-- Lets a version that keeps totals notice that an earlier version, which runs at the same time during an upgrade, added
-- to the sums only. The totals are then filled from the sums again.

alter table rollup_progress
  -- The progress up to which the totals contain what the sums contain.
  add column totals_progress text;
-- There is nothing to fill in a new database.
update rollup_progress set totals_progress = '0 0 -'
where history_number = 0 and callback_attempts_number = 0 and backfill_before is null;
