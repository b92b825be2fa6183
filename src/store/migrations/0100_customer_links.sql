-- One-time links with which payers see and remove what a shop has saved for them.

create table customer_links (
  mid uuid not null references accounts,
  -- A keyed digest of the address: one link per address at a time.
  email_key text not null,
  email text not null,
  -- The language of the e-mail.
  language text not null,
  -- requested: it is not known yet whether the address is known; sent; over: used, or there is nothing to send.
  state text not null check (state in ('requested', 'sent', 'over')),
  -- Of the secret in the link.
  digest text,
  attempts int not null default 0,
  -- When it is sent; afterwards, when the row is deleted.
  due_at timestamptz not null,
  created_at timestamptz not null,
  primary key (mid, email_key)
);
create index customer_links_due on customer_links (due_at);
