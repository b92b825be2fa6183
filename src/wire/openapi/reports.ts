/** The overview and the reports in the OpenAPI document. */
import { ATTENTIONS } from '../../rules/attention.ts';
import { DECLINE_CLASSES } from '../../rules/declines.ts';
import { LIMITS } from '../../rules/limits.ts';
import { REPORT_GROUPS } from '../../rules/reports.ts';
import { call, commonRefusals, dateTime } from './operator-call.ts';
import {
  answers,
  choice,
  date,
  described,
  flag,
  inQuery,
  integer,
  type Json,
  listOf,
  object,
  orNull,
  ref,
  text,
  uuid,
} from './schema.ts';

const days = (ms: number): number => ms / LIMITS.dayMs;

const rangeParameters = (defaultMs: number): Json[] => [
  inQuery(
    'from',
    dateTime,
    `The start of the range, rounded down to a whole hour; default: ${days(defaultMs)} days before its end.`,
  ),
  inQuery(
    'to',
    dateTime,
    `The end of the range, rounded up to a whole hour; default: the present. The range is ${days(LIMITS.reportMostMs)} days at most.`,
  ),
  inQuery('mid', uuid, 'Figures of this account.'),
];

const range = {
  from: date,
  to: date,
  complete: described(flag, 'False while payments from before an upgrade are still being added.'),
};

const counts = {
  payments: described(integer, 'Payments that were created.'),
  settled: described(integer, 'Payments that were settled, at the time of the settlement.'),
  declined: described(integer, 'Payments that were declined, at the time of the decline.'),
};

const amounts = {
  captured: text,
  refunded: text,
  charged_back: text,
  paid_out: described(text, 'Payouts; they are not part of `captured`.'),
  net: described(text, '`captured` without `refunded`, `charged_back` and `paid_out`.'),
};

const tally = {
  ...counts,
  success_rate: described(
    orNull({ type: 'number' }),
    'The share of `settled` in `settled` and `declined`; null without any.',
  ),
  volume: described(
    { type: 'object', additionalProperties: text },
    'The captured amount of each currency, by its code.',
  ),
};

const counted = described(integer, `Counted up to ${LIMITS.countedMost}.`);

const groupBy = inQuery(
  'group_by',
  { ...text, examples: ['day', 'day,mid,brand'] },
  `Any of ${REPORT_GROUPS.map((group) => `\`${group}\``).join(', ')}, separated by commas. The rows always have a currency. With \`decline_class\` only declines are counted.`,
);

export const REPORT_SCHEMAS: Readonly<Record<string, Json>> = {
  Overview: object({
    ...range,
    bucket: described(choice(['hour', 'day']), 'The length of the intervals of `series`.'),
    series: listOf(object({ at: date, ...tally })),
    totals: object({ ...tally, amounts: listOf(object({ currency: text, ...amounts })) }),
    by_brand: described(
      listOf(object({ brand: text, ...tally })),
      `The ${LIMITS.overviewItems} brands with the most payments; \`unchosen\` until the payer has chosen one.`,
    ),
    by_mid: described(
      listOf(object({ mid: uuid, ...tally })),
      `The ${LIMITS.overviewItems} accounts with the most payments.`,
    ),
    by_connection: listOf(object({ connection: text, ...tally })),
    declines: described(
      listOf(object({ reason: text, declined: integer })),
      `The ${LIMITS.overviewItems} most frequent reasons.`,
    ),
    latency: listOf(
      object({
        connection: text,
        calls: described(integer, 'Calls that were sent to the provider.'),
        unanswered: integer,
        p50_ms: orNull(integer),
        p95_ms: orNull(integer),
      }),
    ),
    callbacks: object({
      delivered: described(integer, 'Successful attempts in the range.'),
      failed_attempts: described(integer, 'Failed attempts in the range.'),
      waiting: described(counted, `At present. Counted up to ${LIMITS.countedMost}.`),
      parked: described(counted, `At present. Counted up to ${LIMITS.countedMost}.`),
      failing_endpoints: described(integer, 'Endpoints with waiting callbacks of which an attempt failed.'),
      failing: listOf(
        object({
          mid: uuid,
          origin: described(orNull(text), 'Null for the `callback_url` of the account.'),
          waiting: integer,
          oldest_at: date,
        }),
      ),
    }),
    needs_attention: object({
      payments: described(
        object(Object.fromEntries(ATTENTIONS.map((attention) => [attention, integer]))),
        'Payments on the attention list, by reason.',
      ),
      payments_in_doubt: counted,
      operations_in_doubt: counted,
      chargebacks: described(integer, 'Chargebacks in the range.'),
      parked_callbacks: counted,
      unmatched_notifications: counted,
      refunds_to_approve: counted,
    }),
  }),
  Report: object({
    ...range,
    group_by: listOf(choice(REPORT_GROUPS)),
    items: listOf(
      object(
        { currency: text, ...counts, ...amounts },
        { day: text, mid: uuid, brand: text, connection: text, decline_class: choice([...DECLINE_CLASSES]) },
      ),
    ),
    totals: described(listOf(object({ currency: text, ...amounts })), 'One entry for each currency.'),
  }),
};

export const REPORT_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/overview': {
    get: call('reports', 'readOverview', 'Returns the figures of a range, and what needs attention at present.', {
      parameters: rangeParameters(LIMITS.overviewMs),
      responses: { ...answers('The figures.', ref('Overview')), ...commonRefusals },
    }),
  },
  '/admin/api/reports': {
    get: call('reports', 'readReport', 'Returns sums of a range in groups.', {
      parameters: [...rangeParameters(LIMITS.reportMs), groupBy],
      responses: {
        ...answers(`The report; one of more than ${LIMITS.reportRowsMost} rows is refused.`, ref('Report')),
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/reports.csv': {
    get: call('reports', 'readReportCsv', 'Returns the rows of a report as CSV with a header line.', {
      parameters: [...rangeParameters(LIMITS.reportMs), groupBy],
      responses: {
        '200': {
          description: `The report; one of more than ${LIMITS.reportCsvRowsMost} rows is refused.`,
          content: { 'text/csv': { schema: text } },
        },
        ...commonRefusals,
      },
    }),
  },
};
