-- The audit log under a key that the database does not have: each entry has an HMAC of its digest and of the head before
-- it, and the head has one of its own. Entries of earlier versions have none; those go on with the digests alone.
alter table audit_log add column mac bytea;
alter table audit_head add column mac bytea;
