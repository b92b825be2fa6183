/** The e-mails that tell operators what is new: chargebacks, marked payments, failing providers, the week. */
import type { MailContent, Operator } from '../../../core/context.ts';
import type { NoticeFacts } from '../../../core/operators/notice-facts.ts';
import { panelUrl } from '../../../core/operators/panel-address.ts';
import { utcDay } from '../../../lib/time/day.ts';
import { count, fill, money } from '../frame/parts.ts';
import { inLanguage, panelTag, panelTexts } from '../locales/index.ts';
import { markName } from '../payments/attention.ts';
import { letter } from './mails.ts';

const PATHS: Readonly<Record<NoticeFacts['topic'], string>> = {
  chargebacks: '/admin/chargebacks',
  attention: '/admin/attention',
  connections: '/admin/connections',
  summary: '/admin/reports',
};

/** In the language of the operator. */
export const noticeMail = (gateway: { publicUrl: string }, operator: Operator, facts: NoticeFacts): MailContent =>
  inLanguage(panelTag(operator.language, undefined), () => {
    const text = panelTexts.mails.notices;
    const { subject, body, button } = text[facts.topic];
    const values = { host: new URL(gateway.publicUrl).host, ...periodOf(facts) };
    return letter({
      subject: fill(subject, values),
      lines: [fill(body, values)],
      items: itemsOf(facts),
      button,
      link: panelUrl(gateway.publicUrl) + PATHS[facts.topic],
      after: text.after,
    });
  });

const periodOf = (facts: NoticeFacts): Record<string, string> =>
  facts.topic === 'summary' ? { from: utcDay(facts.from), to: utcDay(facts.to) } : {};

function itemsOf(facts: NoticeFacts): string[] {
  if (facts.topic === 'summary') return summaryOf(facts.totals);
  const items = listedItems(facts);
  return facts.isMore ? [...items, panelTexts.mails.notices.more] : items;
}

function listedItems(facts: Exclude<NoticeFacts, { topic: 'summary' }>): string[] {
  const text = panelTexts.mails.notices;
  if (facts.topic === 'connections') return facts.items.map(({ name }) => name ?? panelTexts.payments.ownProvider);
  if (facts.topic === 'attention') {
    return facts.items.map(({ orderId, attention }) => `${orderId}: ${markName(attention)}`);
  }
  return facts.items.map(({ orderId, amount, currency, respondBy }) => {
    const answer = respondBy === null ? text.noAnswer : fill(text.answerBy, { date: utcDay(respondBy) });
    return `${orderId}: ${money(amount, currency)}, ${answer}`;
  });
}

function summaryOf({ payments, settled, declined, chargebacks, amounts }: SummaryTotals): string[] {
  const text = panelTexts.mails.notices;
  const counts = {
    payments: count(payments),
    settled: count(settled),
    declined: count(declined),
    chargebacks: count(chargebacks),
  };
  return [
    fill(text.counts, counts),
    ...amounts.map(({ currency, captured, refunded, chargedBack, net }) => {
      const sums = {
        captured: money(captured, currency),
        refunded: money(refunded, currency),
        chargedBack: money(chargedBack, currency),
        net: money(net, currency),
      };
      return fill(text.amounts, sums);
    }),
  ];
}

type SummaryTotals = Extract<NoticeFacts, { topic: 'summary' }>['totals'];
