/** The timeline of a payment: what happened, in sentences, and who did it. */
import { type LoggedCallback, shownAddress } from '../../../core/callbacks/log.ts';
import type { HistoryRow, OperationRow, Payment } from '../../../core/context.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { reasonText, typeName } from '../callbacks/states.ts';
import { badge, fill, money, time, toneOf } from '../frame/parts.ts';
import { panelTexts } from '../locales/index.ts';
import { statusText } from './status.ts';

const text = panelTexts.payment;

export interface Moment {
  at: number;
  order: number;
  what: Html;
  tone: string;
}

const OPERATION = /^(requested|refused|unanswered) (\w+)$/;
const lookUp = (texts: object, name: string): string | undefined => (texts as Record<string, string>)[name];

/** The operation that an entry requested or finished: they are written together, at the same time. */
function operationAt({ event, at }: HistoryRow, operations: readonly OperationRow[]): OperationRow | undefined {
  const [, phase, verb] = OPERATION.exec(event) ?? [];
  const isOf = phase === 'requested' ? ({ requestedAt }: OperationRow) => requestedAt === at : undefined;
  return (
    operations.find(
      (operation) =>
        (verb === undefined || operation.verb === verb) && (isOf?.(operation) ?? operation.finishedAt === at),
    ) ?? operations.findLast((operation) => operation.verb === verb && operation.requestedAt <= at)
  );
}

/** The sentence of an event; one that came too late is said to have changed nothing. */
function sentence(row: HistoryRow, operations: readonly OperationRow[], { captured, currency }: Payment): string {
  const [, noted] = /^noted (.+)$/.exec(row.event) ?? [];
  if (noted !== undefined)
    return `${sentence({ ...row, event: noted }, operations, { captured, currency } as Payment)} (${text.reportedOnly})`;
  const [, phase, verb = ''] = OPERATION.exec(row.event) ?? [];
  const sentences =
    phase === 'requested' ? text.requestedEvents : phase === 'refused' ? text.refusedEvents : text.unansweredEvents;
  const template = (phase === undefined ? lookUp(text.events, row.event) : lookUp(sentences, verb)) ?? row.event;
  const amount = operationAt(row, operations)?.amount ?? row.amount ?? captured;
  return fill(template, { amount: money(amount, currency) });
}

/** What the provider said, and how long it took. */
function answerOf({ call }: HistoryRow): Html | false {
  if (!call) return false;
  const { reason, reported, tookMs, verb, outcome } = call;
  const result = verb === 'authenticate' ? text.threeDsResults[outcome] : reason;
  const took = tookMs > 0 && fill(text.took, { ms: String(tookMs) });
  if (!result && !took && !reported) return false;
  return html` · ${text.providerSaid} ${[result, reported && money(BigInt(reported.amount), reported.currency), took].filter(Boolean).join(', ')}`;
}

const entry =
  (payment: Payment, operations: readonly OperationRow[]) =>
  (row: HistoryRow): Moment => {
    const { at, seq, toState, fromState, actor, actorName, note } = row;
    const isChange = toState !== fromState;
    return {
      at,
      order: seq,
      tone: isChange ? toneOf(toState) : '',
      what: html`<h3>${sentence(row, operations, payment)}${
        isChange && html` ${badge(statusText({ state: toState, authorised: 0n, refunded: 0n }), toneOf(toState))}`
      }</h3>
<p class="soft small">${text.by} ${actorName ?? text.actors[actor]}${answerOf(row)}</p>${note && html`<p class="small">${note}</p>`}`,
    };
  };

const attempts = ({ callback, destination, log }: LoggedCallback): Moment[] =>
  log.map(({ at, attempt, status, fault, tookMs }) => {
    const isDelivered = status !== null && status < 300;
    return {
      at,
      order: 1_000_000 + callback.seq,
      tone: isDelivered ? 'good' : 'bad',
      what: html`<h3>${fill(text.callbackAttempt, { type: typeName(callback.type), attempt: String(attempt) })} ${badge(isDelivered ? text.delivered : text.failed, isDelivered ? 'good' : 'bad')}</h3>
<p class="soft small">${shownAddress({ destination })} · ${status === null ? (reasonText(fault) ?? text.noAnswer) : `HTTP ${status}`}, ${fill(text.took, { ms: String(tookMs) })}</p>`,
    };
  });

/** What somebody did or decided. It comes before what the same moment has of the payment itself. */
export const decisionMoment = (
  at: number,
  what: string,
  by: string | null,
  tone: string,
  note: string | null = null,
): Moment => ({
  at,
  order: 0,
  tone,
  what: html`<h3>${what}</h3><p class="soft small">${text.by} ${by}</p>${note && html`<p class="small">${note}</p>`}`,
});

/** Everything that happened to a payment, in order. */
export function timeline(
  payment: Payment,
  history: readonly HistoryRow[],
  operations: readonly OperationRow[],
  callbacks: readonly LoggedCallback[],
  more: readonly Moment[],
): Html {
  const all = [...history.map(entry(payment, operations)), ...callbacks.flatMap(attempts), ...more].sort(
    (a, b) => a.at - b.at || a.order - b.order,
  );
  return html`<ol class="timeline">${all.map(({ at, what, tone }) => html`<li class="${tone}">${what}<p class="soft small">${time(at)}</p></li>`)}</ol>`;
}
