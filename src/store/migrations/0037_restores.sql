-- Restores of backups. Until the newest one is released, nothing is charged or voided automatically.
-- outside a transaction

create table if not exists restores (
  restored_at timestamptz primary key,
  -- The moment of the backup: what happened afterwards is not in this database, and the provider may know it.
  backup_at timestamptz not null,
  released_at timestamptz,
  released_by text,
  note text,
  constraint release_is_complete
    check ((released_at is null) = (released_by is null) and (released_at is null) = (note is null))
);

-- The time in an id of ours, and some milliseconds more.
create or replace function id_time(id uuid, more_ms int) returns timestamptz language sql immutable parallel safe
  return to_timestamp((('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint + more_ms) / 1000.0);

-- Scheduled charges that were made later than planned: their ids contain the planned moment.
create index concurrently if not exists payments_late on payments (created_at)
  where schedule_id is not null and created_at > id_time(payment_id, 60000);
