-- Who made an invitation: an operator or a token; null for a command. The link works while its maker may manage the operator.
alter table operator_invitations add column invited_by uuid;
