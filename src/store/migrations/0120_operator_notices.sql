-- What operators want to be told by e-mail.

create table operator_notices (
  operator_id uuid not null references operators on delete cascade,
  topic text not null,
  -- What happened until then was told, or was there when the operator chose the topic.
  told_until timestamptz not null,
  due_at timestamptz not null,
  primary key (operator_id, topic)
);

create index operator_notices_due on operator_notices (due_at);
