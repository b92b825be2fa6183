-- A wallet token pays once in the installation: accounts of one merchant may share the keys that open it. The index is
-- therefore over all accounts, without `mid`.
--
-- The index covers rows with the mark only. It is built before any row has the mark, so that tokens that have paid in two
-- accounts do not prevent it. Then the default marks all new rows, also those of the previous version, and of each
-- token that has been used one row is marked. The primary key stays: the previous version recognises a used token by it.
-- outside a transaction
alter table wallet_tokens add column if not exists is_first boolean;
create unique index concurrently if not exists wallet_tokens_once on wallet_tokens (replay_key) where is_first;
alter table wallet_tokens alter column is_first set default true;
-- in batches
update wallet_tokens w set is_first = true from (
  select distinct on (replay_key) mid, replay_key from (
    select mid, replay_key from wallet_tokens u where is_first is null
      and not exists (select from wallet_tokens f where f.replay_key = u.replay_key and f.is_first)
    limit 2000
  ) unmarked
) b where w.mid = b.mid and w.replay_key = b.replay_key;
