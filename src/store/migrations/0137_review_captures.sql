-- Whether a review made the payment an authorisation, which the approval captures; false if the merchant asked for one. Null
-- without a review, and in rows of before, whose payments are captured.
alter table risk_decisions add column review_captures boolean;
