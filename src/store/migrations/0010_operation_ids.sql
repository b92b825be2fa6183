-- Operations that merchants name themselves, and credits that have an order of their own.

alter table operations
  -- What was asked for under an id that the merchant chose: the kind of call, the payment and the amount as written.
  add column content text,
  -- The own order of a credit; without one it belongs to the order of its payment.
  add column order_id text;

-- The callbacks of credits whose outcome is still to come carry their own order.
update operations o set order_id = c.order_id
  from credits c
  where c.mid = o.mid and c.operation_id = o.operation_id and c.part = '' and o.verb = 'credit';

-- The callback of a credit is of the type of a refund. What was sent to the merchant stays as it was.
update callbacks set type = 'refund' where type = 'credit';
