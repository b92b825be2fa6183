/** What a rule would have done to the payments of the last days, drawn. */
import type { BackTestResult } from '../../../core/context.ts';
import { amountsOf } from '../../../core/risk/back-tests.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { moneyText } from '../frame/parts.ts';
import { panelTexts } from '../locales/index.ts';
import { bars } from '../reports/charts.ts';

export function effectCard(result: BackTestResult, isAsking: boolean): Html {
  const text = panelTexts.risk.effect;
  const { seen, hits, settled, refunded, chargedBack } = result;
  const amounts = amountsOf(result).map(({ currency, amount }) => moneyText(amount, currency));
  return html`<section class="card" aria-labelledby="effect"><h2 id="effect">${text.title}</h2>${
    seen === 0
      ? html`<p class="soft">${text.none}</p>`
      : bars(text.title, [
          { label: text.seen, value: seen },
          { label: text.hits, value: hits, note: amounts.join(', ') || undefined },
          { label: text.settled, value: settled },
          { label: text.refunded, value: refunded },
          { label: text.chargedBack, value: chargedBack, tone: 'bad' },
        ])
  }${isAsking && html`<p class="field">${text.continue}</p>`}</section>`;
}
