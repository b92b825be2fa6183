/** The start of a merchant's users: what they do most, and for those who see no figures, the sections that they may open. */
import type { Session } from '../../../core/operators/sessions.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { isAllowed, isMerchantRole, type Permission } from '../../../rules/roles.ts';
import { sectionsOf } from '../frame/layout.ts';
import type { PanelAnswer, PanelRequest } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';

const ACTIONS: readonly { path: string; permission: Permission; label: () => string }[] = [
  { path: '/admin/links', permission: 'links.manage', label: () => panelTexts.links.make },
  { path: '/admin/invoices/new', permission: 'invoices.manage', label: () => panelTexts.invoices.make },
  {
    path: '/admin/telephone-orders',
    permission: 'telephone_orders.take',
    label: () => panelTexts.sections.telephoneOrders,
  },
];

/** Buttons for what the users of a merchant do most; operators have none. */
export function quickActions({ principal: { role } }: Session): Html | false {
  const allowed = ACTIONS.filter(({ permission }) => isMerchantRole(role) && isAllowed(role, permission));
  return (
    allowed.length > 0 &&
    html`<section class="card"><div class="actions">${allowed.map(({ path, label }) => html`<a class="button" href="${path}">${label()}</a>`)}</div></section>`
  );
}

export const startPage = ({ gateway, session }: PanelRequest): PanelAnswer => ({
  title: panelTexts.sections.overview,
  body: html`<div class="head"><h1>${panelTexts.sections.overview}</h1></div>
${quickActions(session)}<div class="card"><ul class="links">${sectionsOf(session, gateway.environment === 'sandbox')
    .filter(({ path }) => path !== '/admin')
    .map(({ path, name }) => html`<li><a href="${path}">${panelTexts.sections[name]}</a></li>`)}</ul></div>`,
});
