/** The page of the sandbox console that shows callbacks as they arrive at the inbox of an account. */
import { changeAccount } from '../../../core/accounts/accounts.ts';
import { sees } from '../../../core/operators/principal.ts';
import { clearInbox, type InboxCallback, listInbox, setInboxAnswer } from '../../../core/sandbox/callback-inbox.ts';
import { html } from '../../../lib/text/html.ts';
import { invalidField, type Problem, Refusal } from '../../../rules/errors.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { MOST_FAULTS } from '../../../rules/sandbox-scenarios.ts';
import { formToken } from '../frame/layout.ts';
import { badge, type Column, empty, facts, field, notice, table, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { accountForm, chosenAccount, consolePage, errorIn, PATHS, problemsOf, withoutAccounts } from './frame.ts';

const text = panelTexts.sandboxConsole;
const SHOWN = 25;
const REFRESH_SECONDS = 4;

const validity = (isValid: boolean) => badge(isValid ? text.valid : text.invalid, isValid ? 'good' : 'bad');

const columns = (): Column<InboxCallback>[] => [
  { label: text.number, isNumber: true, cell: ({ number }) => number },
  { label: text.receivedAt, cell: ({ receivedAt }) => time(receivedAt) },
  { label: text.hash, cell: ({ isHashValid }) => validity(isHashValid) },
  { label: text.signature, cell: ({ isSignatureValid }) => validity(isSignatureValid) },
  { label: text.answered, cell: ({ answer }) => `HTTP ${answer}` },
  {
    label: text.body,
    cell: ({ body, number }) =>
      html`<details><summary>${body.length} bytes</summary><pre class="wrap" tabindex="0" aria-label="${text.body} ${number}">${body.toString('utf8')}</pre></details>`,
  },
];

const doneText = (done: string | undefined): string | undefined =>
  ({ use: text.inboxSet, answer: text.answerSet, clear: text.cleared })[done ?? ''];

/** Problems of a submitted form stop the page from refreshing itself, because that would remove them. */
async function page(
  request: PanelRequest,
  mid: string | undefined,
  problems?: readonly Problem[],
): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const chosen = await chosenAccount(request, mid);
  const { account } = chosen;
  if (!account) return withoutAccounts('callbacks');
  const options = { waitMs: 0, signal: AbortSignal.timeout(0) };
  const { last, url } = await listInbox(gateway, account.mid, { ...options, after: 0, limit: 1 });
  const { items } = await listInbox(gateway, account.mid, {
    ...options,
    after: Math.max(0, last - SHOWN),
    limit: SHOWN,
  });
  const address = account.settings.callback_url;
  const isSet = address === url;
  const path = `${PATHS.callbacks}/${account.mid}`;
  const button = (name: string, label: string, css: string) =>
    html`<form method="post" action="${path}/${name}">${formToken(session)}<button class="${css}">${label}</button></form>`;
  const error = (name: string): string | undefined => problems && errorIn(problems, name);
  return consolePage(
    'callbacks',
    account,
    html`${notice(doneText(query.done))}${accountForm('callbacks', chosen)}
<section class="card"><h2>${text.inboxAddress}</h2><p class="mono">${url}</p>${
      isSet
        ? html`<p class="soft">${text.inboxIsSet}</p>`
        : facts([[address === '' ? text.inboxNoAddress : text.inboxIsNotSet, address.replace(/\?.*$/s, '')]])
    }<div class="actions">${
      !isSet && isAllowed(session.principal.role, 'accounts.change') && button('use', text.useInbox, '')
    }${items.length > 0 && button('clear', text.clear, 'quiet')}</div></section>
<section class="card flush"${!problems && html` data-refresh="${REFRESH_SECONDS}"`}><h2 class="inset">${text.inbox}</h2><p class="inset soft small">${text.refreshes}</p>${
      items.length > 0
        ? table(text.inbox, columns(), items.toReversed())
        : empty(text.noCallbacks, text.noCallbacksHint)
    }</section>
<form class="card" method="post" action="${path}/answer">${formToken(session)}<h2>${text.nextAnswers}</h2>
<div class="filters">${field({ name: 'answer', label: text.status, value: request.form.get('answer') ?? '500', error: error('answer'), attributes: html`inputmode="numeric"` })}${field({ name: 'count', label: text.answers, value: request.form.get('count') ?? '1', error: error('count'), attributes: html`inputmode="numeric"` })}<button class="quiet">${text.setAnswer}</button></div></form>`,
    problems ? 400 : 200,
  );
}

function requireAccount({ session, params }: PanelRequest): string {
  const mid = params.mid ?? '';
  if (!sees(session.principal, mid)) throw new Refusal('noSuchAccount');
  return mid;
}

const done = (mid: string, name: string): PanelAnswer => ({ redirect: `${PATHS.callbacks}?mid=${mid}&done=${name}` });

async function useInbox(request: PanelRequest): Promise<PanelAnswer> {
  const mid = requireAccount(request);
  const { gateway, caller } = request;
  const { url } = await listInbox(gateway, mid, { after: 0, limit: 1, waitMs: 0, signal: AbortSignal.timeout(0) });
  await changeAccount(gateway, caller, mid, { settings: { callback_url: url } });
  return done(mid, 'use');
}

async function clear(request: PanelRequest): Promise<PanelAnswer> {
  const mid = requireAccount(request);
  const { gateway, caller } = request;
  await clearInbox(gateway, caller, mid);
  return done(mid, 'clear');
}

async function answer(request: PanelRequest): Promise<PanelAnswer> {
  const mid = requireAccount(request);
  const { gateway, caller, form } = request;
  const number = (name: string, least: number, most: number): number => {
    const value = /^\d{1,5}$/.test(form.get(name) ?? '') ? Number(form.get(name)) : -1;
    if (value < least || value > most) throw invalidField(name, text.wholeNumber);
    return value;
  };
  try {
    const [status, count] = [number('answer', 200, 599), number('count', 1, MOST_FAULTS)];
    await setInboxAnswer(gateway, caller, mid, status, count);
    return done(mid, 'answer');
  } catch (error) {
    const name = error instanceof Refusal ? (error.problems[0]?.field ?? 'answer') : 'answer';
    return page(request, mid, problemsOf(error, name));
  }
}

const common = { permission: 'sandbox.use', scope: 'accounts', isSandboxOnly: true } as const;
const form = { method: 'POST', unconfirmed: 'The inbox exists in the sandbox only.', ...common } as const;

export const inboxPages: readonly PanelRoute[] = [
  { method: 'GET', path: PATHS.callbacks, ...common, handle: (request) => page(request, request.query.mid) },
  { ...form, path: `${PATHS.callbacks}/:mid/clear`, handle: clear },
  { ...form, path: `${PATHS.callbacks}/:mid/answer`, handle: answer },
  {
    method: 'POST',
    path: `${PATHS.callbacks}/:mid/use`,
    permission: 'accounts.change',
    scope: 'accounts',
    isSandboxOnly: true,
    confirmFor: `${PATHS.callbacks}?mid=:mid`,
    handle: useInbox,
  },
];
