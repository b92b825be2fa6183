/** What a new account still needs, with links to where it is done. */
import type { Account } from '../../../core/context.ts';
import { listPayments } from '../../../core/payments/find.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { fill } from '../frame/parts.ts';
import type { PanelRequest } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { pathOf } from './parts.ts';

const text = panelTexts.settings.onboarding;

/** Nothing once everything is done, and nothing for those who may not do it. */
export async function onboarding({ gateway, session }: PanelRequest, account: Account): Promise<Html | false> {
  if (!isAllowed(session.principal.role, 'accounts.change')) return false;
  const { settings, routes, mid } = account;
  const { payments } = await listPayments(gateway, { mid, mids: null, limit: 1 });
  const tab = (name: string): string => `${pathOf(account)}?tab=${name}`;
  const steps: readonly (readonly [label: string, href: string, isDone: boolean])[] = [
    [text.look, tab('page'), settings['branding.logo'] !== '' || settings['branding.name'] !== ''],
    [
      text.contact,
      tab('page'),
      settings['branding.support_email'] !== '' ||
        settings['branding.support_phone'] !== '' ||
        settings['branding.support_url'] !== '',
    ],
    [text.methods, tab('methods'), settings.brands.length > 0 || settings.page_methods.length > 0],
    [text.callback, tab('notifications'), settings.callback_url !== ''],
    [text.payment, `/admin/payments?mid=${mid}`, payments.length > 0],
    ...(gateway.environment === 'production'
      ? [[text.provider, `${pathOf(account)}/routes`, routes.length > 0] as const]
      : []),
  ];
  const done = steps.filter(([, , isDone]) => isDone).length;
  if (done === steps.length) return false;
  const progress = fill(text.progress, { done: String(done), all: String(steps.length) });
  return html`<section class="card" aria-labelledby="onboarding"><h2 id="onboarding">${text.title}</h2><p class="soft small">${progress}</p><ol class="checklist">${steps.map(
    ([label, href, isDone]) =>
      html`<li${isDone && html` class="done"`}><a href="${href}">${label}</a> <span class="soft small">${isDone ? text.done : text.open}</span></li>`,
  )}</ol></section>`;
}
