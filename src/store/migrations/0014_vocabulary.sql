-- Tables, columns, types and constraints get the names that the code uses. Only history is rewritten, and only the rows
-- that carry an old name; the rest is catalogue changes. Stop every process of the previous version first.

alter table news rename to provider_notifications;
alter type news_state rename to notification_state;
alter table provider_notifications rename column tries to attempts;
alter index news_pkey rename to provider_notifications_pkey;
alter index news_due rename to provider_notifications_due;
alter index news_by_reference rename to provider_notifications_by_reference;
alter index news_by_state rename to provider_notifications_by_state;

-- How often the provider was queried about an outcome that is unknown.
alter table payments rename column asked to query_count;
alter table operations rename column asked to query_count;

alter table callbacks rename column tries to attempts;
-- The index of the next interval in the retry schedule.
alter table callbacks rename column rung to retry_index;
-- Whether due_at is the end of a lease.
alter table callbacks rename column is_taken to is_leased;
alter table callback_tries rename to callback_attempts;
alter table callback_attempts rename column try to attempt;
alter index callback_tries_pkey rename to callback_attempts_pkey;

alter table card_tries rename to card_attempts;
alter index card_tries_pkey rename to card_attempts_pkey;
alter index card_tries_of_source rename to card_attempts_of_source;
alter index card_tries_by_time rename to card_attempts_by_time;

alter table receivers rename to callback_inboxes;
alter index receivers_pkey rename to callback_inboxes_pkey;
alter table received_callbacks rename to callback_inbox_entries;
alter index received_callbacks_pkey rename to callback_inbox_entries_pkey;

alter table history rename constraint moves_are_legal to transitions_are_legal;
update history set
  event = case event when 'asked' then 'queried' else event end,
  call = case call ->> 'verb' when 'news' then jsonb_set(call, '{verb}', '"notification"') else call end
where event = 'asked' or call ->> 'verb' = 'news';
