/** What the pages of the sandbox console share: their heading, the chosen account, and errors beside fields. */
import { findAccount } from '../../../core/accounts/accounts.ts';
import type { Account } from '../../../core/context.ts';
import { sees } from '../../../core/operators/principal.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { ERRORS, type Problem, Refusal } from '../../../rules/errors.ts';
import { accountNames } from '../frame/filters.ts';
import { choiceField, empty, tabs, withQuery } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';

const text = panelTexts.sandboxConsole;

export const PATHS = {
  payment: '/admin/sandbox',
  requests: '/admin/sandbox/requests',
  controls: '/admin/sandbox/controls',
  callbacks: '/admin/sandbox/callbacks',
} as const;
export type Tab = keyof typeof PATHS;

/** A number that no earlier order of the console has. */
export const newOrder = (): string => `console-${Date.now().toString(36)}`;

/** A page of the console with links to the others, which keep the account. */
export function consolePage(tab: Tab, account: Account | undefined, body: Html, status = 200): PanelAnswer {
  const query = account ? { mid: account.mid } : {};
  const views = (Object.keys(PATHS) as Tab[]).map((one) => ({
    href: withQuery(PATHS[one], query),
    label: text.tabs[one],
    isActive: one === tab,
  }));
  return {
    title: `${panelTexts.sections.sandbox}: ${text.tabs[tab]}`,
    status,
    body: html`<div class="head"><h1>${panelTexts.sections.sandbox}</h1></div>${tabs(text.pages, views)}
${body}`,
  };
}

/** The account of a page: the chosen one, or else the first of the list. */
export interface ChosenAccount {
  account: Account | undefined;
  names: ReadonlyMap<string, string>;
}

export async function chosenAccount(request: PanelRequest, mid: string | undefined): Promise<ChosenAccount> {
  const names = await accountNames(request);
  const chosen = mid?.toLowerCase() ?? names.keys().next().value;
  const isSeen = chosen !== undefined && isUuid(chosen) && sees(request.session.principal, chosen);
  const account = isSeen ? await findAccount(request.gateway, chosen) : undefined;
  if (mid !== undefined && !account) throw new Refusal('noSuchAccount');
  return { account, names: account ? new Map([...names, [account.mid, account.name]]) : names };
}

/** The filter that selects the account, with further fields. */
export const accountForm = (tab: Tab, { account, names }: ChosenAccount, more: Html | false = false): Html =>
  html`<form class="filters" action="${PATHS[tab]}">${choiceField({ name: 'mid', label: text.account, value: account?.mid }, [...names])}${more}<button class="quiet">${text.show}</button></form>`;

export const withoutAccounts = (tab: Tab): PanelAnswer =>
  consolePage(tab, undefined, html`<div class="card">${empty(text.noAccounts, text.noAccountsHint)}</div>`);

/** The problems of a refused action, under the names of the form. */
export function problemsOf(error: unknown, otherwise: string): Problem[] {
  if (!(error instanceof Refusal) || ERRORS[error.error].http >= 500) throw error;
  const [problem] = error.problems;
  return [{ field: otherwise, sentence: problem?.sentence ?? ERRORS[error.error].message }];
}

export const errorIn = (problems: readonly Problem[], name: string): string | undefined =>
  problems.find(({ field }) => field === name)?.sentence;
