-- Vacuums the tables whose rows are work more often than every fifth of their rows. Until then the indexes of due rows
-- keep an entry for each row that was due before, and each search for due rows reads these: a fifth of a large table
-- is as many as all payments of some weeks.
alter table payments set (autovacuum_vacuum_scale_factor = 0.03, autovacuum_analyze_scale_factor = 0.03);
alter table callbacks set (autovacuum_vacuum_scale_factor = 0.03, autovacuum_analyze_scale_factor = 0.03);
alter table operations set (autovacuum_vacuum_scale_factor = 0.03, autovacuum_analyze_scale_factor = 0.03);
