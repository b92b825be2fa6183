/** The money of a payment on its page: what was captured, what it cost, what is left, and the ledger entries. */

import type { Payment } from '../../../core/context.ts';
import { isMerchantView, paymentMoney } from '../../../core/ledger/ledger.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { facts, money, table } from '../frame/parts.ts';
import type { PanelRequest } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { entryColumns } from './parts.ts';

const text = panelTexts.ledger;

/** Two parts of the page: the sums, and the table of entries. */
export async function moneyOfPayment(
  { gateway, session: { principal } }: PanelRequest,
  payment: Payment,
  accountName: string,
): Promise<{ sums: Html; entries: Html }> {
  const { money: sums, entries } = await paymentMoney(gateway, principal, payment);
  const amount = (minor: bigint): Html => html`<span class="amount">${money(minor, payment.currency)}</span>`;
  const names = new Map([[payment.mid, accountName]]);
  const unlessZero = (minor: bigint): Html | undefined => (minor === 0n ? undefined : amount(minor));
  return {
    sums: html`<section class="card" aria-labelledby="money"><h2 id="money">${text.money}</h2>${
      entries.length === 0
        ? html`<p class="soft">${text.noMoney}</p>`
        : facts([
            [text.gross, amount(sums.gross)],
            [text.refunded, unlessZero(sums.refunded)],
            [text.chargedBack, unlessZero(sums.chargedBack)],
            [text.fees, amount(sums.fees)],
            [text.net, amount(sums.net)],
            [text.costs, isMerchantView(principal) ? undefined : amount(sums.costs)],
          ])
    }</section>`,
    entries: html`${
      entries.length > 0 &&
      html`<section class="card flush dense"><h2 class="inset">${text.entries}</h2>${table(text.entries, entryColumns(names, false), entries)}</section>`
    }`,
  };
}
