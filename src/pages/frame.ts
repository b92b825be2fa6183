/** The frame of every payment page: the icon, the header with the merchant's name, the footer with support and terms. */
import { displayName } from '../core/accounts/accounts.ts';
import type { Account } from '../core/context.ts';
import { Html, html } from '../lib/text/html.ts';
import { accentOf } from './accent.ts';
import { LANGUAGE_NAMES } from './language-names.ts';
import type { Locale } from './locale.ts';
import type { Language } from './locales/index.ts';

/** The accent colour of accounts that set none, as in the style. */
export const DEFAULT_FILL = '#0f5c4c';

const GLOBE = new Html(
  '<svg width="16" height="16" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true"><path d="M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c-5 5-5 13 0 18 5-5 5-13 0-18"/></svg>',
);

const icons = new WeakMap<Account, string>();

/** The icon of a page, composed once for each version of an account. */
export function iconUrl(account: Account | undefined): string {
  if (!account) return composeIcon(account);
  const icon = icons.get(account) ?? composeIcon(account);
  icons.set(account, icon);
  return icon;
}

/** A square in the merchant's colour with the initial of its name, as a data URL: the page stays one request. */
function composeIcon(account: Account | undefined): string {
  const { fill, onFill } = accentOf(account?.settings['branding.colour'] || DEFAULT_FILL, 'light');
  const [initial = ''] = account ? (/[\p{L}\p{N}]/u.exec(displayName(account).toLocaleUpperCase()) ?? []) : [];
  const svg = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${fill}"/><text x="16" y="23" font-family="sans-serif" font-size="20" font-weight="700" text-anchor="middle" fill="${onFill}">${initial}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(String(svg))}`;
}

/** The merchant's logo or name; in the sandbox also a badge, so that no payer takes a test for a purchase. */
export function header(
  { messages: { frame } }: Locale,
  account: Account | undefined,
  { logo, isSandbox }: { logo: URL | undefined; isSandbox: boolean },
): Html | false {
  if (!account && !isSandbox) return false;
  const merchant = account && displayName(account);
  return html`<header class="top">${
    logo
      ? html`<img class="logo" src="${logo.href}" alt="${merchant}">`
      : merchant && html`<span dir="auto">${merchant}</span>`
  }${isSandbox && html`<p class="test"><strong>${frame.testMode}</strong> <span>${frame.testNote}</span></p>`}</header>`;
}

/** How payers reach the merchant. */
export interface Contact {
  text: string;
  href: string;
  /** An address or a number, which is written from left to right in every language. */
  isPlain?: true;
}

export function contactsOf({ settings }: Pick<Account, 'settings'>, { messages: { frame } }: Locale): Contact[] {
  const email = settings['branding.support_email'];
  const phone = settings['branding.support_phone'];
  const page = settings['branding.support_url'];
  return [
    ...(email ? [{ text: email, href: `mailto:${encodeURI(email)}`, isPlain: true } as const] : []),
    ...(phone ? [{ text: phone, href: `tel:${phone.replace(/[^\d+]/g, '')}`, isPlain: true } as const] : []),
    ...(page ? [{ text: frame.helpPage, href: page }] : []),
  ];
}

/** A link that leaves the form as it is: it opens in a new tab. */
export const contactLink = ({ text, href, isPlain }: Contact): Html =>
  html`<a href="${href}"${href.startsWith('https:') && html` target="_blank" rel="noopener"`}>${isPlain ? html`<bdi>${text}</bdi>` : text}</a>`;

/** The languages as links, so that they need no script; the page is loaded in the one that is chosen. */
function languageSwitch({ tag, messages: { frame } }: Locale, keptQuery: string): Html {
  const current = tag.split('-', 1)[0] as Language;
  return html`<details class="languages"><summary><span class="hush">${frame.language}: </span>${GLOBE}<span>${LANGUAGE_NAMES[current]}</span></summary>
<ul>${Object.entries(LANGUAGE_NAMES).map(
    ([language, name]) =>
      html`<li><a href="?${keptQuery}lang=${language}" lang="${language}" hreflang="${language}"${language === current && html` aria-current="true"`}>${name}</a></li>`,
  )}</ul></details>`;
}

/** What the end of a page depends on. */
export interface FooterContext {
  locale: Locale;
  account?: Account | undefined;
  /** The part of the query that the links to other languages keep. */
  keptQuery?: string;
  /** A preview: nothing on the page can be used. */
  isPreview?: true;
}

export function footer({ locale, account, keptQuery = '', isPreview }: FooterContext): Html {
  const { frame } = locale.messages;
  const contacts = account ? contactsOf(account, locale) : [];
  const terms = account?.settings['branding.terms_url'];
  const privacy = account?.settings['branding.privacy_url'];
  const links = [
    ...(terms ? [{ text: frame.terms, href: terms }] : []),
    ...(privacy ? [{ text: frame.privacy, href: privacy }] : []),
  ];
  return html`<footer class="foot"${isPreview && html` inert`}>${
    contacts.length > 0 &&
    html`<p><span>${frame.questions}</span> ${contacts.map((contact) => html`${contactLink(contact)} `)}</p>`
  }${links.length > 0 && html`<p>${links.map((link) => html`${contactLink(link)} `)}</p>`}${languageSwitch(locale, keptQuery)}</footer>`;
}
