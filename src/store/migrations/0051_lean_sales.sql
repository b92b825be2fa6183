-- A sale writes only what it needs: lists and searches read projections, so that their indexes leave the tables of
-- payments and callbacks. The previous version reads its lists without them, slowly, until it is replaced.
--
-- Keys begin with the id of the payment, which begins with its time: all accounts append to the same end of the index. One
-- index then also finds a payment whose account is not known.
-- outside a transaction
create unique index concurrently if not exists payments_by_id on payments (payment_id, mid);
alter table payments drop constraint if exists payments_pkey,
  add constraint payments_pkey primary key using index payments_by_id;
create unique index concurrently if not exists history_by_id on history (payment_id, mid, seq);
alter table history drop constraint if exists history_pkey,
  add constraint history_pkey primary key using index history_by_id;
create unique index concurrently if not exists callbacks_by_id on callbacks (payment_id, mid, seq);
alter table callbacks drop constraint if exists callbacks_pkey,
  add constraint callbacks_pkey primary key using index callbacks_by_id;
drop index concurrently if exists payments_by_time;
drop index concurrently if exists payments_by_brand;
drop index concurrently if exists payments_by_state;
drop index concurrently if exists payments_by_schedule;
drop index concurrently if exists payments_by_last_four;
drop index concurrently if exists payments_by_email;
drop index concurrently if exists payments_by_receipt_email;
drop index concurrently if exists payments_by_amount;
drop index concurrently if exists payments_by_reference;
drop index concurrently if exists payments_by_recurring_token;
drop index concurrently if exists payments_by_card;
drop index concurrently if exists payments_late;
drop index concurrently if exists callbacks_of_account;
drop index concurrently if exists callbacks_by_time;
-- PostgreSQL reads the text of a constraint at the start of each statement; a list of pairs is a third as long as the
-- conditions for each state.
alter table history drop constraint if exists transitions_are_legal, add constraint transitions_are_legal check (
  from_state is not distinct from to_state
  or coalesce(from_state::text, '') || '>' || to_state::text = any ('{
    >PREPARE, PREPARE>REDIRECT, PREPARE>3DS, PREPARE>PENDING, PREPARE>SETTLED, PREPARE>DECLINED,
    REDIRECT>PENDING, REDIRECT>SETTLED, REDIRECT>DECLINED, 3DS>PENDING, 3DS>SETTLED, 3DS>DECLINED,
    PENDING>SETTLED, PENDING>DECLINED, PENDING>VOID, PENDING>REVERSAL, PENDING>EXPIRED,
    SETTLED>REFUND, SETTLED>CHARGEBACK
  }'::text[])
  or event = 'acceptedLate' and actor = 'operator' and to_state = 'SETTLED'
    and coalesce(from_state::text, '') = any ('{DECLINED, VOID, REVERSAL, EXPIRED}'::text[])
) not valid;
