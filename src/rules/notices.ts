/** What operators can be told by e-mail, and the permission that each topic needs. */
import type { Permission } from './roles.ts';

export const NOTICE_TOPICS = ['chargebacks', 'attention', 'connections', 'summary'] as const;
export type NoticeTopic = (typeof NOTICE_TOPICS)[number];

export const NOTICE_PERMISSIONS: Readonly<Record<NoticeTopic, Permission>> = {
  chargebacks: 'chargebacks.view',
  attention: 'payments.view',
  connections: 'connections.view',
  summary: 'reports.view',
};
