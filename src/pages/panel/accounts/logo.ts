/** The page on which the logo of an account is uploaded or removed. */
import { removeLogo, uploadLogo } from '../../../core/accounts/logos.ts';
import type { Account, Gateway } from '../../../core/context.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { readFile } from '../../multipart.ts';
import { formToken } from '../frame/layout.ts';
import { field } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { accountOfPath, pathOf } from './parts.ts';

const text = panelTexts.settings.logo;

const pagePath = (account: Pick<Account, 'mid'>): string => `${pathOf(account)}?tab=page`;

/** The logo, if this gateway serves it: pages of the panel show nothing of other servers. */
function ownLogo({ publicUrl }: Gateway, account: Account): Html | false {
  const address = account.settings['branding.logo'];
  return (
    address.startsWith(`${publicUrl}/`) &&
    html`<p class="field"><img class="logo" src="${address.slice(publicUrl.length)}" alt="${text.alt}"></p>`
  );
}

/** What follows the address of the logo among the settings. */
export const logoLink = ({ gateway }: PanelRequest, account: Account): Html =>
  html`${ownLogo(gateway, account)}<p class="field"><a class="button quiet" href="${pathOf(account)}/logo">${text.upload}</a></p>`;

async function showUpload(request: PanelRequest, error?: string): Promise<PanelAnswer> {
  const account = await accountOfPath(request);
  const { gateway, session } = request;
  return {
    title: text.upload,
    status: error === undefined ? 200 : 400,
    body: html`<div class="card narrow"><h1>${text.upload}</h1>${ownLogo(gateway, account)}
<form method="post" action="${pathOf(account)}/logo" enctype="multipart/form-data">${formToken(session)}${field(
      { name: 'file', label: text.file, hint: text.hint, error },
      (attributes) =>
        html`<input ${attributes} type="file" accept="image/png,image/jpeg,image/webp" data-picture required>`,
    )}<div class="actions"><button>${text.use}</button> <a class="button quiet" href="${pagePath(account)}">${panelTexts.accounts.cancel}</a></div></form>${
      account.settings['branding.logo'] !== '' &&
      html`<form method="post" action="${pathOf(account)}/logo/remove">${formToken(session)}<div class="actions"><button class="quiet">${text.remove}</button></div></form>`
    }</div>`,
  };
}

async function upload(request: PanelRequest): Promise<PanelAnswer> {
  const account = await accountOfPath(request);
  const { gateway, caller, file } = request;
  const picture = file && (await readFile(file, LIMITS.logoBytes));
  if (!picture || picture.length === 0) return showUpload(request, text.missing);
  if (picture.length > LIMITS.logoBytes) return showUpload(request, text.tooLarge);
  if (picture.toString('latin1', 1, 4) !== 'PNG') return showUpload(request, text.notPng);
  if (!(await uploadLogo(gateway, caller, account.mid, picture))) return showUpload(request, text.broken);
  return { redirect: `${pagePath(account)}&done=1` };
}

async function remove(request: PanelRequest): Promise<PanelAnswer> {
  const account = await accountOfPath(request);
  await removeLogo(request.gateway, request.caller, account.mid);
  return { redirect: `${pagePath(account)}&done=1` };
}

const PATH = '/admin/accounts/:mid/logo';
const ONE = '/admin/accounts/:mid';
const needs = { permission: 'accounts.change_own', scope: 'accounts' } as const;

export const logoPages: readonly PanelRoute[] = [
  { method: 'GET', path: PATH, ...needs, confirmFirst: true, handle: (request) => showUpload(request) },
  { method: 'POST', path: PATH, ...needs, confirmFor: ONE, handle: upload },
  { method: 'POST', path: `${PATH}/remove`, ...needs, confirmFor: ONE, handle: remove },
];
