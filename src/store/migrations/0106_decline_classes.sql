-- Declines by their class, per hour and per day: a projection of its own, which is built in the background.

create table rollup_decline_classes (
  grain rollup_grain not null,
  starts_at timestamptz not null,
  mid uuid not null,
  brand text not null,
  connector text not null,
  currency text not null,
  decline_class text not null,
  declined integer not null,
  primary key (mid, grain, starts_at, brand, connector, currency, decline_class)
) with (fillfactor = 70);
create index rollup_decline_classes_by_time on rollup_decline_classes (grain, starts_at);
