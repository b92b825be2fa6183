/** The icons of payment methods: one drawing per kind, on a grid of 24, in the colour of the text. */
import { Html, html } from '../../lib/text/html.ts';
import { type Brand, brandOf } from '../../rules/brands.ts';
import type { MethodKind } from '../../rules/method-kinds.ts';
import { placedMark } from './network-marks.ts';
import type { PageView } from './view.ts';

const PHONE = 'M8 3h8a1.5 1.5 0 0 1 1.5 1.5v15A1.5 1.5 0 0 1 16 21H8a1.5 1.5 0 0 1-1.5-1.5v-15A1.5 1.5 0 0 1 8 3z';
const COIN_BLOCK = 'M12 3.5l7.5 4.25v8.5L12 20.5l-7.5-4.25v-8.5z';
const ARROW_OUT = 'M12 14.5V4M8 8l4-4 4 4M5 14v5.5h14V14';

const PATHS: Readonly<Record<MethodKind, string>> = {
  card: 'M4.5 5.5h15A1.5 1.5 0 0 1 21 7v10a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 17V7a1.5 1.5 0 0 1 1.5-1.5zM3 10h18M7 14.75h3.5',
  test: 'M9 3.5h6M10.5 3.5v6L5.2 18a1.6 1.6 0 0 0 1.4 2.5h10.8a1.6 1.6 0 0 0 1.4-2.5l-5.3-8.5v-6M8 15h8',
  deviceWallet: `${PHONE}M9.5 11h5v3.5h-5zM11 18h2`,
  onlineWallet:
    'M18 8V5.5H5.75a1.75 1.75 0 0 0 0 3.5H19.5A1 1 0 0 1 20.5 10v8.5a1 1 0 0 1-1 1H6a2 2 0 0 1-2-2V7.25M16.5 14.25v.01',
  onlineBanking: 'M5 5h14a1 1 0 0 1 1 1v9.5H4V6a1 1 0 0 1 1-1zM2.5 19h19M9.25 10.25l2 2 3.75-3.75',
  payAccount:
    'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 7.25a2.75 2.75 0 1 0 0 5.5 2.75 2.75 0 0 0 0-5.5zM6.75 18.5c.75-2.5 2.75-3.5 5.25-3.5s4.5 1 5.25 3.5',
  directDebit: 'M4 8.5L12 3l8 5.5zM6.5 11v3m3.7-3v3m3.6-3v3m3.7-3v3M20 18.5H5.5l3-2.75M5.5 18.5l3 2.75',
  payApp: `${PHONE}M9.5 9.5h3.75l-1.5-1.5M14.5 12.5h-3.75l1.5 1.5M11 18h2`,
  bank: 'M4 9.5L12 4l8 5.5zM6.5 12.5V17m3.7-4.5V17m3.6-4.5V17m3.7-4.5V17M4 20h16',
  qr: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2.5v2.5M20 14v3M17.5 20H20M14 20v.01M7 7v.01M17 7v.01M7 17v.01',
  upi: `${PHONE}M9.75 11.25l1.6 1.6 3-3M11 18h2`,
  mobileMoney: `${PHONE}M12 8a2.75 2.75 0 1 0 0 5.5A2.75 2.75 0 0 0 12 8zM11 18h2`,
  payLater:
    'M5.5 5.5h13A1.5 1.5 0 0 1 20 7v12.5H4V7a1.5 1.5 0 0 1 1.5-1.5zM4 10h16M8.5 3.5v4m7-4v4M12 12.75v2.5l1.75 1.25',
  voucher: 'M4 7h16v3a2 2 0 0 0 0 4v3H4v-3a2 2 0 0 0 0-4zM14 7v1.5m0 2.5v2m0 2.5V17',
  phoneBill: 'M6 3.5h12v17l-3-2-3 2-3-2-3 2zM9 8h6m-6 4h6',
  personalId:
    'M4.5 5.5h15A1.5 1.5 0 0 1 21 7v10a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 17V7a1.5 1.5 0 0 1 1.5-1.5zM8.5 8.75a1.75 1.75 0 1 0 0 3.5 1.75 1.75 0 0 0 0-3.5zM5.75 15.5c.5-1.25 1.5-1.75 2.75-1.75s2.25.5 2.75 1.75M14.5 10H18m-3.5 4H18',
  local:
    'M12 21c4-4.2 6.5-7.4 6.5-10.75a6.5 6.5 0 0 0-13 0C5.5 13.6 8 16.8 12 21zM12 7.75a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
  coins: 'M9 6a5.5 5.5 0 1 0 0 11A5.5 5.5 0 0 0 9 6zM15.5 7.2a5.5 5.5 0 0 1 0 8.6M9 9.25v4.5',
  crypto: `${COIN_BLOCK}M12 12l7.5-4.25M12 12v8.5M12 12L4.5 7.75`,
  otherCurrency: 'M4 8.5h14.5l-3.25-3.25M20 15.5H5.5l3.25 3.25',
  providerPage: 'M14 4h6v6M20 4l-8.5 8.5M18.5 14v5.5h-14V6H10',
  deposit: 'M4 20h16M5.5 16l4.5-5 3.5 3L19 7.5M15 7.5h4v4',
  payout: ARROW_OUT,
  personPayout:
    'M10 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM3.5 20c.75-3.5 3-5 6.5-5 1.5 0 2.75.25 3.75 1M18.5 20v-6.5M16 16l2.5-2.5L21 16',
  cryptoPayout: `${COIN_BLOCK}M12 16V8.5M9 11.25l3-3 3 3`,
  withdrawal: ARROW_OUT,
};

const icon = (path: string): Html =>
  new Html(
    `<svg width="20" height="20" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="${path}"/></svg>`,
  );

export const METHOD_ICONS = Object.fromEntries(
  Object.entries(PATHS).map(([kind, path]) => [kind, icon(path)]),
) as Readonly<Record<MethodKind, Html>>;

/** The mark of a method beside its name: the one that the operator has placed, or the icon of its kind. */
export const methodTile = (view: Pick<PageView, 'marks'>, label: string): Html =>
  html`<span class="tile">${placedMark(view, label, '') ?? METHOD_ICONS[(brandOf(label) as Brand).kind]}</span>`;
