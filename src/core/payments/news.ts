/** News from providers: kept once, applied to the payment they are about, tried again until that worked. */
import type { News } from '../../connectors/connector.ts';
import { isUuid } from '../../lib/id.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen } from '../../rules/states.ts';
import type { NewsCursor, NewsRow } from '../../store/news.ts';
import type { CallRecord, WholePayment } from '../../store/payments.ts';
import { findAccount } from '../accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { advance, nextPause, noteDoubt } from './advance.ts';
import { apply, inquireNow, isOurs } from './provider.ts';

const CLAIM_MOST = 100;

/** Reads news that a provider sent; nothing when nobody we know signed them. */
export function readNews(
  gateway: Gateway,
  connector: string,
  headers: Readonly<Record<string, unknown>>,
  body: Buffer,
): News | undefined {
  const known = Object.hasOwn(gateway.connectors, connector) ? gateway.connectors[connector] : undefined;
  // Real time: the provider knows nothing of a clock that was moved.
  return known?.readNews(headers, body, Date.now());
}

/** For the operator: news that wait for their payment, or that no payment was ever found for. */
export const listNews = (
  gateway: Gateway,
  state: NewsRow['state'],
  most: number,
  before?: NewsCursor,
): Promise<NewsRow[]> => gateway.news.list(state, most, before);

/** Keeps news and applies them; once they are kept, nothing that goes wrong afterwards loses them. */
export async function receiveNews(gateway: Gateway, connector: string, news: News): Promise<void> {
  const now = gateway.clock.now();
  const row: NewsRow = { connector, ...news, state: 'new', tries: 0, receivedAt: now };
  if (await gateway.news.keep(row, now)) await workNews(gateway, row);
}

/** Applies the notifications that could not be applied when they came. */
export async function workDueNotifications(
  gateway: Gateway,
  connector: string,
  isStopped: () => boolean,
): Promise<void> {
  while (!isStopped()) {
    const due = await gateway.news.claimDue(connector, CLAIM_MOST);
    if (due.length === 0) return;
    // Those of one payment build on each other and are applied in the order they came; payments do not wait for another.
    const byPayment = Map.groupBy(due, ({ reference }) => reference);
    await Promise.all(
      [...byPayment.values()].map(async (rows) => {
        for (const row of rows) await workNews(gateway, row);
      }),
    );
  }
}

/** Applies the notifications that came before their payment was there; says whether there were any. */
export async function applyNotificationsOf(gateway: Gateway, paymentId: string): Promise<boolean> {
  const waiting = (await gateway.news.about(paymentId)).filter(({ state }) => state === 'new');
  for (const row of waiting) await workNews(gateway, row);
  return waiting.length > 0;
}

async function workNews(gateway: Gateway, row: NewsRow): Promise<void> {
  const { connector, eventId, reference, tries } = row;
  try {
    const applied = await applyNews(gateway, row);
    if (applied === 'done') return await gateway.news.finish(row, 'applied', null);
    // What waits for another report is tried again for as long as its payment is open.
    const pause = applied === 'early' ? nextPause(LIMITS.newsAgainMs, tries) : LIMITS.newsAgainMs[tries];
    if (pause === undefined) {
      gateway.log.warn({ connector, event_id: eventId, reference }, 'news of a payment that nobody knows');
      return await gateway.news.finish(row, 'unmatched', null);
    }
    await gateway.news.finish(row, 'new', gateway.clock.now() + pause);
  } catch (error) {
    // The lease runs out and the news are due again.
    gateway.log.error({ err: error, connector, event_id: eventId }, 'news could not be applied');
  }
}

/** Applies a notification to its payment, unless there is no such payment yet, or something else has to come first. */
async function applyNews(
  gateway: Gateway,
  { connector, reference, body }: NewsRow,
): Promise<'done' | 'unknown payment' | 'early'> {
  const payment = isUuid(reference) ? await gateway.payments.findAnywhere(reference) : undefined;
  if (payment?.connector !== connector) return 'unknown payment';
  const account = await findAccount(gateway, payment.mid);
  const meaning = gateway.connectors[connector]?.meaningOf(body);
  if (!account || !meaning || meaning.kind === 'unknown' || meaning.kind === 'notFound') return 'done';
  const call: CallRecord = { verb: 'news', connector, outcome: meaning.kind, tookMs: 0 };
  if (meaning.kind === 'chargedBack' && isOpen(payment.state)) {
    return (await chargeBackEarly(gateway, payment, account, call)) ? 'done' : 'early';
  }
  if (isOurs(payment, meaning.told)) await apply(gateway, payment, account, meaning, call);
  else await noteDoubt(gateway, payment, 'provider', { ...call, outcome: `${meaning.kind}, wrong amount` });
  return 'done';
}

/**
 * A chargeback came before the settlement that it takes back: the provider is asked for that. False while it is not settled
 * here, and the notification is tried again; until then the payment is on the operator's list.
 */
async function chargeBackEarly(
  gateway: Gateway,
  payment: WholePayment,
  account: Account,
  call: CallRecord,
): Promise<boolean> {
  const chargedBack = { event: 'chargedBack', actor: 'provider', call } as const;
  const asked = await inquireNow(gateway, payment, account);
  const isNoted = asked.attention === 'unexpected_chargeback' && isOpen(asked.state);
  const after = isNoted ? asked : await advance(gateway, asked, chargedBack);
  return !isOpen(after.state);
}
