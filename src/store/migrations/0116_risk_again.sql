-- When a payment was evaluated for the second time: after a challenge, before it is submitted.
alter table risk_decisions add column evaluated_again_at timestamptz;
