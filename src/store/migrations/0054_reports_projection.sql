-- The sums of reports become a projection. The previous version finds their progress, and its lock, in a view of the row:
-- both versions add to the sums during an upgrade, and each row once. A later version drops the view. An earlier version
-- would add to the sums and not to their totals.
-- needs 0034

alter table projections
  -- Of the sums of reports: the totals of days before this one are not filled yet; null when all are.
  add column totals_before timestamptz,
  -- What the previous version compares with the progress: up to here the totals contain what the sums contain.
  add column totals_progress text;

-- A process that adds to the sums ends its transaction first, and no other starts one.
with moved as (delete from rollup_progress returning *)
insert into projections (name, history_number, callback_attempts_number, history_since, callback_attempts_since,
  backfill_before, backfill_started_at, totals_before, totals_progress)
select 'reports', history_number, callback_attempts_number, 0, 0,
  backfill_before, case when backfill_before is not null then now() end,
  case when totals_progress = concat_ws(' ', history_number, callback_attempts_number, coalesce(backfill_before::text, '-'))
    then totals_before else timestamptz '9999-01-01' end,
  totals_progress
from moved;
drop table rollup_progress;

-- The previous version would take too few rows by payment during a rebuild; it finds no row then, and adds nothing.
create view rollup_progress as
select true as is_only, history_number, callback_attempts_number, backfill_before, totals_before, totals_progress
from projections
where name = 'reports' and (backfill_before is null or history_since = 0);
