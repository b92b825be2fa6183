/** What is left of the volume limits of an account, drawn. */
import type { Account, Gateway } from '../../../core/context.ts';
import { volumeView } from '../../../core/risk/volume.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { type Column, count, moneyText, table } from '../frame/parts.ts';
import { panelTexts } from '../locales/index.ts';

type Row = Awaited<ReturnType<typeof volumeView>>[number];

/** Nothing without limits. */
export async function volumeCard(gateway: Gateway, account: Account): Promise<Html | false> {
  const text = panelTexts.risk.volume;
  const rows = await volumeView(gateway, account);
  if (rows.length === 0) return false;
  const shown = (amount: string | null, number: number | null, currency: string): string =>
    [amount !== null && moneyText(amount, currency), number !== null && `× ${count(number)}`]
      .filter(Boolean)
      .join(' · ');
  const columns: Column<Row>[] = [
    { label: text.title, cell: ({ per, brands }) => [text.per[per], ...brands].join(' · ') },
    { label: text.used, isNumber: true, cell: (row) => shown(row.used, row.used_count, row.currency) },
    { label: text.left, isNumber: true, cell: (row) => shown(row.left, row.left_count, row.currency) },
  ];
  return html`<section class="card flush"><h2 class="inset">${text.title}</h2>${table(text.title, columns, rows)}</section>`;
}
