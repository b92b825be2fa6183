-- The language of the panel that an operator chose; null for that of the browser.
alter table operators add column language text;

-- The logo that an account uploaded, as the gateway encoded it.
create table account_logos (
  mid uuid primary key references accounts,
  -- A part of the address, so that browsers may keep the picture for good.
  digest text not null,
  image bytea not null,
  uploaded_at timestamptz not null default now()
);
