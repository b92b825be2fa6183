/** The live preview of the payment page beside the branding settings, and what is said about the contrast of a colour. */
import type { Account } from '../../../core/context.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { readSettings, SETTINGS, type SettingName, type Settings } from '../../../rules/settings.ts';
import { contrastShortfalls, type Scheme } from '../../accent.ts';
import { previewPage } from '../../pay/preview.ts';
import { withQuery } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { accountOfPath, pathOf } from './parts.ts';
import { settingValue, withComposed } from './settings.ts';

const text = panelTexts.accounts.preview;

/** The settings that the preview takes unsaved. */
const PREVIEWED = [
  'branding.name',
  'branding.logo',
  'branding.colour',
  'branding.support_email',
  'branding.support_phone',
  'branding.support_url',
  'branding.terms_url',
  'branding.privacy_url',
  'locale',
  'page_methods',
  'method_names',
] as const satisfies SettingName[];
const COLOUR = 'branding.colour';

const schemeOf = (value: string | undefined): Scheme => (value === 'dark' ? 'dark' : 'light');
const pageOf = (value: string | undefined): 'choice' | 'card' => (value === 'card' ? 'card' : 'choice');

/** Answers the frame: the payment page with the settings of the query. A value that is not valid is ignored. */
export async function showPreview(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, query, acceptLanguage } = request;
  const account = await accountOfPath(request);
  const typed = withComposed(new Map(Object.entries(query)));
  const { set } = readSettings(
    Object.fromEntries(PREVIEWED.map((name) => [name, settingValue(SETTINGS[name].input, typed.get(name) ?? '')])),
  );
  const previewed: Account = { ...account, settings: { ...account.settings, ...set } as Settings };
  const scheme = schemeOf(query.scheme);
  return previewPage(gateway, previewed, { scheme, page: pageOf(query.page), acceptLanguage });
}

/** What there is to say about a colour: that it is none, or where it has too little contrast. */
function colourNotes(colour: string): string[] {
  if (colour === '') return [];
  const { problems } = readSettings({ [COLOUR]: colour });
  if (problems.length > 0) return problems.map(({ sentence }) => sentence);
  return contrastShortfalls(colour).map(
    ({ scheme, ratio, ink }) =>
      `${text.modes[scheme]}: ${text.lowContrast.replace('{ratio}', ratio.toFixed(1)).replace('{colour}', ink)}`,
  );
}

export async function showColourNotes(request: PanelRequest): Promise<PanelAnswer> {
  await accountOfPath(request);
  return { json: { notes: colourNotes(request.query[COLOUR] ?? '') } };
}

/** The frame and its controls; `shownValue` returns what is in the form. */
export function brandingPreview(
  account: Account,
  form: ReadonlyMap<string, string>,
  shownValue: (name: SettingName) => string,
): Html {
  const scheme = schemeOf(form.get('preview_scheme'));
  const page = pageOf(form.get('preview_page'));
  const isDesktop = form.get('preview_width') === 'desktop';
  const path = `${pathOf(account)}/preview`;
  const values = Object.fromEntries(PREVIEWED.map((name) => [name, shownValue(name)]));
  const radio = (name: string, value: string, label: string, isChecked: boolean): Html =>
    html`<label class="choice"><input type="radio" name="preview_${name}" id="preview-${value}" value="${value}"${isChecked && html` checked`}>${label}</label>`;
  return html`<section class="card preview" aria-labelledby="preview-title" data-preview="${path}" data-previewed="${PREVIEWED.join(' ')}"><h2 id="preview-title">${text.title}</h2>
<div class="choices">${radio('page', 'choice', text.choicePage, page === 'choice')}${radio('page', 'card', text.cardPage, page === 'card')}</div>
<div class="choices">${radio('scheme', 'light', text.modes.light, scheme === 'light')}${radio('scheme', 'dark', text.modes.dark, scheme === 'dark')}<span class="gap"></span>${radio('width', 'phone', text.phone, !isDesktop)}${radio('width', 'desktop', text.desktop, isDesktop)}</div>
<button class="quiet" formaction="${path}" formnovalidate data-preview-button>${text.button}</button>
<div role="status"><ul class="notes" data-preview-notes>${colourNotes(shownValue(COLOUR)).map((note) => html`<li>${note}</li>`)}</ul></div>
<div class="screen"><iframe title="${text.frame}" src="${withQuery(path, { ...values, scheme, page })}" tabindex="-1"></iframe></div>
<p class="hint">${text.hint}</p></section>`;
}
