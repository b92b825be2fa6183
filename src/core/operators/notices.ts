/** E-mails that tell operators what happened: each chosen topic is looked at regularly, and new facts are told once. */
import { splitConnectionKey } from '../../rules/connectors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { NOTICE_PERMISSIONS, NOTICE_TOPICS, type NoticeTopic } from '../../rules/notices.ts';
import { isAllowed } from '../../rules/roles.ts';
import type { DueNotice } from '../../store/operators/notices.ts';
import type { Operator } from '../../store/operators/operators.ts';
import { listConnections } from '../connections/connections.ts';
import type { Gateway } from '../context.ts';
import { overview, wholeHours } from '../reports/reports.ts';
import { sendOperatorMail } from './mails.ts';
import type { FailingConnection, NoticeFacts } from './notice-facts.ts';
import { auditEntry, type Caller } from './principal.ts';
import type { Session } from './sessions.ts';

/** The topics that an operator may choose: a failing provider concerns those who see the whole installation. */
export const topicsFor = ({ role, mids }: Pick<Operator, 'role' | 'mids'>): NoticeTopic[] =>
  NOTICE_TOPICS.filter(
    (topic) => isAllowed(role, NOTICE_PERMISSIONS[topic]) && (topic !== 'connections' || mids === null),
  );

/** Monday at 07:00 UTC, after `now`. */
export function nextSummaryAt(now: number): number {
  const monday = new Date(now);
  monday.setUTCHours(7, 0, 0, 0);
  monday.setUTCDate(monday.getUTCDate() + ((8 - monday.getUTCDay()) % 7));
  return monday.getTime() > now ? monday.getTime() : monday.getTime() + LIMITS.summaryMs;
}

const nextLook = (topic: NoticeTopic, now: number, pauseMs = LIMITS.noticeEveryMs): number =>
  topic === 'summary' ? nextSummaryAt(now) : now + pauseMs;

export async function chooseTopics(
  gateway: Gateway,
  by: Caller,
  { operator }: Session,
  topics: readonly NoticeTopic[],
): Promise<void> {
  const now = gateway.clock.real();
  const chosen = topicsFor(operator).filter((topic) => topics.includes(topic));
  await gateway.notices.choose(
    operator.operatorId,
    chosen.map((topic) => ({ topic, dueAt: nextLook(topic, now) })),
    now,
    auditEntry(gateway, by, 'operators.choose_notices', { subject: operator.operatorId, after: { topics: chosen } }),
  );
}

/** Tells what is due, a few at a time, until nothing is due. */
export async function sendDueNotices(gateway: Gateway, isStopped: () => boolean): Promise<void> {
  while (!isStopped()) {
    const claimed = await gateway.notices.claimDue(gateway.clock.real(), LIMITS.noticeLeaseMs, LIMITS.noticesAtATime);
    if (claimed.length === 0) return;
    await Promise.all(claimed.map((due) => tell(gateway, due)));
  }
}

/** Never throws: what cannot be told now is looked at again after the lease. */
async function tell(gateway: Gateway, due: DueNotice): Promise<void> {
  const names = { operator_id: due.operatorId, topic: due.topic };
  try {
    const operator = await gateway.operators.find(due.operatorId);
    const now = gateway.clock.real();
    const facts = operator && topicsFor(operator).includes(due.topic) && (await findFacts(gateway, operator, due, now));
    if (!facts) {
      await gateway.notices.record(due, { toldUntil: due.toldUntil, dueAt: nextLook(due.topic, now) });
      return;
    }
    const outcome = await sendOperatorMail(
      gateway,
      operator.email,
      gateway.writeNotice(operator, facts),
      noticeId(due),
    );
    // An address that the server refuses for good is not tried again with the same facts.
    if (outcome?.kind !== 'sent') gateway.log.warn({ ...names, reason: outcome?.reason }, 'notice not sent');
    const next =
      outcome?.kind === 'failed'
        ? { toldUntil: due.toldUntil, dueAt: now + LIMITS.noticeEveryMs }
        : { toldUntil: now, dueAt: nextLook(due.topic, now, LIMITS.noticePauseMs) };
    await gateway.notices.record(due, next);
  } catch (error) {
    gateway.log.error({ ...names, err: error }, 'notice could not be sent');
  }
}

/** The same for a repetition after a crash, so that a mail server can tell it. */
const noticeId = ({ operatorId, topic, toldUntil }: DueNotice): string => `notice-${topic}-${operatorId}-${toldUntil}`;

/** Undefined if there is nothing to tell. */
async function findFacts(
  gateway: Gateway,
  { mids }: Operator,
  { topic, toldUntil }: DueNotice,
  now: number,
): Promise<NoticeFacts | undefined> {
  if (topic === 'summary') {
    const { from, to } = wholeHours({ from: now - LIMITS.summaryMs, to: now });
    return { topic, from, to, totals: (await overview(gateway, { from, to, mids })).totals };
  }
  const most = LIMITS.noticeMost + 1;
  if (topic === 'chargebacks')
    return listed(topic, await gateway.chargebacks.list({ mids, from: toldUntil + 1 }, most));
  if (topic === 'attention') return listed(topic, await gateway.notices.marked(mids, toldUntil, most));
  return listed(topic, await failing(gateway, toldUntil));
}

const listed = <Topic extends NoticeTopic, Item>(topic: Topic, items: readonly Item[]) =>
  items.length > 0
    ? { topic, items: items.slice(0, LIMITS.noticeMost), isMore: items.length > LIMITS.noticeMost }
    : undefined;

/** The connections that stopped answering this process after the last notice. */
async function failing(gateway: Gateway, toldUntil: number): Promise<FailingConnection[]> {
  const failed = gateway.health.all().flatMap(([key, state]) => {
    const { since } = gateway.health.of(key);
    return state !== 'closed' && since !== null && since > toldUntil ? [{ key, since }] : [];
  });
  if (failed.length === 0) return [];
  const connections = await listConnections(gateway, { mids: null });
  const names = new Map(connections.map(({ connectionId, name }) => [connectionId, name]));
  return failed.map(({ key, since }) => ({
    name: names.get(splitConnectionKey(key).connectionId ?? '') ?? null,
    since,
  }));
}
