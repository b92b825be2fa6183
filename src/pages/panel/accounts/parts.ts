/** What the pages on one account share: its path, finding it, and its state. */
import { requireAccount } from '../../../core/accounts/require-account.ts';
import type { Account } from '../../../core/context.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { badge } from '../frame/parts.ts';
import type { PanelRequest } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';

export const pathOf = ({ mid }: Pick<Account, 'mid'>): string => `/admin/accounts/${mid}`;

/** The account of the path; to an operator who may not see it, it does not exist. */
export const accountOfPath = ({ gateway, session, params: { mid = '' } }: PanelRequest): Promise<Account> =>
  requireAccount(gateway, session.principal, mid);

export const stateBadge = ({ isSuspended }: Account): Html =>
  isSuspended ? badge(panelTexts.accounts.suspended, 'bad') : badge(panelTexts.accounts.active, 'good');

/** Marks an account that takes card numbers over `/post`. */
export const cardSalesBadge = ({ settings }: Account): Html | false =>
  settings['dialect.card_sales'] && html` ${badge(panelTexts.accounts.cardSales, 'wait')}`;
