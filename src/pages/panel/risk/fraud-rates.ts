/** The page on fraud rates: each connection, quarter and currency beside the bands of the exemption `transaction_risk`. */
import { fraudRateView } from '../../../core/risk/fraud-rates.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { isAboveBand, RATE_BANDS } from '../../../rules/risk/fraud-rates.ts';
import { badge, type Column, empty, fill, moneyText, table } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { bars } from '../reports/charts.ts';
import { riskHead } from './head.ts';

type Rate = Awaited<ReturnType<typeof fraudRateView>>['items'][number];

const text = panelTexts.risk;
const rates = text.rates;

/** A quarter in which nothing was captured has no rate; with fraud in it, it is above every band. */
const isAbove = ({ percent, fraud }: Rate, limit: string): boolean =>
  percent === null ? Number(fraud) > 0 : isAboveBand(percent, limit);

/** Rates have four digits after the point. */
const barOf = (percent: string): number => Number(percent) * 10_000;

/** The largest amount whose band the rate is in. */
function exemptUpTo(rate: Rate): Html {
  const band = RATE_BANDS.findLast(({ percent }) => !isAbove(rate, percent));
  return band ? badge(moneyText(band.upTo, band.currency), 'good') : badge(rates.above, 'bad');
}

const columns: Column<Rate>[] = [
  { label: rates.connection, cell: ({ connector }) => connector },
  { label: rates.quarter, cell: ({ quarter }) => quarter },
  { label: rates.captured, isNumber: true, cell: ({ captured, currency }) => moneyText(captured, currency) },
  { label: rates.fraud, isNumber: true, cell: ({ fraud, currency }) => moneyText(fraud, currency) },
  { label: rates.rate, isNumber: true, cell: ({ percent }) => percent && `${percent} %` },
  { label: rates.exempt, cell: (rate) => exemptUpTo(rate) },
];

async function showRates({ gateway, session }: PanelRequest): Promise<PanelAnswer> {
  const { items } = await fraudRateView(gateway);
  const [widest] = RATE_BANDS;
  const [newest] = items;
  const shown = items.filter(({ quarter }) => quarter === newest?.quarter);
  return {
    title: text.tabs.rates,
    body: html`${riskHead('rates', session.principal.mids)}<p class="soft">${rates.about}</p>${
      items.length === 0
        ? html`<div class="card flush">${empty(rates.none, rates.noneHint)}</div>`
        : html`<section class="card" aria-labelledby="newest"><h2 id="newest">${newest?.quarter}</h2>${bars(
            rates.rate,
            [
              ...shown.map((rate) => ({
                label: `${rate.connector}, ${rate.currency}`,
                value: barOf(rate.percent ?? '0'),
                shown: rate.percent === null ? '–' : `${rate.percent} %`,
                ...(isAbove(rate, widest.percent) && { tone: 'bad' as const }),
              })),
              ...RATE_BANDS.map(({ upTo, currency, percent }) => ({
                label: fill(rates.bandLine, { amount: moneyText(upTo, currency) }),
                value: barOf(percent),
                shown: `${percent} %`,
              })),
            ],
          )}</section><div class="card flush">${table(text.tabs.rates, columns, items)}</div>`
    }`,
  };
}

export const riskRatePages: readonly PanelRoute[] = [
  { method: 'GET', path: '/admin/risk/fraud-rates', permission: 'risk.view', scope: 'installation', handle: showRates },
];
