-- The name of the receiver as the merchant wrote it: files for banks have it in other characters. Sealed.
alter table transfers add column holder bytea;
