-- The mark of a payment that was settled before a person could review it.
alter type attention add value 'risk_review';
