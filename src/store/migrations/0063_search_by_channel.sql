-- Lists are filtered by the channel that a merchant named. Payments of earlier versions have none.
alter table payment_search add column channel_id text;
