/** The page of the hash debugger: explains why the hash of a merchant request is refused. */
import { findAccount } from '../../../core/accounts/accounts.ts';
import { findCall, listCalls, WRONG_HASH } from '../../../core/api-calls/list.ts';
import type { ApiCall } from '../../../core/context.ts';
import type { Explanation } from '../../../core/explain/explain.ts';
import { explainAs, isShowable, seesDigests } from '../../../core/explain/explain-as.ts';
import { REQUEST_PATHS } from '../../../core/explain/request.ts';
import { sees } from '../../../core/operators/principal.ts';
import { DIGEST_NAMES } from '../../../lib/crypto/hash.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { ERRORS, type Problem, Refusal } from '../../../rules/errors.ts';
import { accountNames } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import { badge, type Column, choiceField, facts, field, notice, table, time, withQuery } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';

const text = panelTexts.debugger;
const PATH = '/admin/debugger';

interface Entered {
  mid: string;
  request: string;
  path: string;
}

/** What the page shows besides the empty form. */
interface Result {
  entered: Entered;
  /** The text is not shown again, because it contains a secret. */
  isHidden?: boolean;
  problems?: readonly Problem[];
  status?: number;
  explanation?: Explanation;
  /** A refused request of the list of API calls. */
  call?: ApiCall;
}

async function debuggerPage(request: PanelRequest, result: Result): Promise<PanelAnswer> {
  const { entered, isHidden = false, problems = [], status = 200, explanation, call } = result;
  const names = await choicesOf(request, entered.mid);
  const errorOf = (name: string): string | undefined => problems.find((problem) => problem.field === name)?.sentence;
  const shown = isHidden ? '' : entered.request;
  const isPickable = explanation === undefined && problems.length === 0;
  return {
    title: panelTexts.sections.debugger,
    status,
    body: html`<div class="head"><h1>${panelTexts.sections.debugger}</h1></div>
${explanation && explained(request, explanation)}${call && pickedCall(request, call)}
<form class="card" method="post" action="${PATH}">${formToken(request.session)}<p class="soft">${text.intro}</p>
${choiceField({ name: 'mid', label: text.account, value: entered.mid, error: errorOf('mid'), attributes: html`required` }, [['', text.choose], ...names])}
${field(
  {
    name: 'request',
    label: text.request,
    hint: isHidden ? text.hidden : text.requestHint,
    error: errorOf('request'),
    attributes: html`required rows="8" spellcheck="false" autocomplete="off" autocapitalize="off"`,
  },
  // The parser removes a line break at the start of a text area.
  (attributes) => html`<textarea class="mono" ${attributes}>
${shown}</textarea>`,
)}
${choiceField({ name: 'path', label: text.path, value: entered.path, hint: text.pathHint, error: errorOf('path') }, [['', text.inferred], ...REQUEST_PATHS.map((path): [string, string] => [path, path])])}
<div class="actions"><button>${text.explain}</button></div></form>
${isPickable && (await refusedRequests(request, entered.mid))}`,
  };
}

/** How many refused requests the page offers. */
const PICKABLE = 10;

const callColumns = (names: ReadonlyMap<string, string>): Column<ApiCall>[] => [
  { label: text.at, cell: ({ at, callId }) => html`<a href="${PATH}?call=${callId}">${time(at)}</a>` },
  { label: text.operation, cell: ({ action }) => html`<span class="mono">${action}</span>` },
  { label: text.order, cell: ({ orderId }) => orderId },
  { label: text.account, cell: ({ mid }) => names.get(mid ?? '') ?? mid },
  {
    label: text.mistake,
    cell: ({ explanation }) => html`${explanation?.mistakes.map((one) => html`${badge(one, '')} `)}`,
  },
];

/** The recent requests whose hash was refused. */
async function refusedRequests(request: PanelRequest, mid: string): Promise<Html> {
  const filter = { errorMessage: WRONG_HASH, mid: isUuid(mid) ? mid : undefined };
  const calls = await listCalls(request.gateway, request.session.principal, filter, PICKABLE);
  const all = withQuery('/admin/requests', { error_message: WRONG_HASH });
  return html`<section class="card flush" aria-labelledby="refused"><h2 class="inset" id="refused">${text.refused}</h2><p class="inset soft">${
    calls.length > 0 ? text.refusedHint : text.noRefused
  }</p>${
    calls.length > 0 &&
    html`${table(text.refused, callColumns(await accountNames(request)), calls)}<div class="pages"><a class="button quiet" href="${all}">${text.allRefused}</a></div>`
  }</section>`;
}

/** The explanation that was made when the request was refused. */
function pickedCall(request: PanelRequest, { callId, at, explanation, protocol, mid }: ApiCall): Html {
  const found: Explained | false = explanation !== null && {
    ...explanation,
    mid: mid ?? '',
    protocol,
    matches: false,
    md5: null,
    sha1: null,
  };
  return html`<div class="head"><p class="soft">${text.ofCall} ${time(at)} · <a href="/admin/requests/${callId}">${text.showCall}</a></p></div>
${found ? explained(request, found, text.noDigestsOfCall) : notice(text.notExplained, 'wait')}`;
}

/** The accounts of the list, and the chosen one. */
async function choicesOf(request: PanelRequest, mid: string): Promise<Map<string, string>> {
  const names = await accountNames(request);
  const isOther = isUuid(mid) && !names.has(mid) && sees(request.session.principal, mid);
  const account = isOther ? await findAccount(request.gateway, mid) : undefined;
  return account ? new Map([...names, [account.mid, account.name]]) : names;
}

const fieldColumns = (): Column<Explanation['fields'][number]>[] => [
  { label: text.field, cell: ({ name }) => html`<span class="mono">${name}</span>` },
  {
    label: text.value,
    cell: ({ value }) =>
      value === '' ? html`<span class="soft">${text.noValue}</span>` : html`<span class="mono">${value}</span>`,
  },
];

/** What the page shows of an explanation; one that was kept does not say its recipe. */
type Explained = Omit<Explanation, 'recipe' | 'digest'> & Partial<Pick<Explanation, 'recipe' | 'digest'>>;

function explained({ session }: PanelRequest, explanation: Explained, noDigests?: string): Html {
  const isShown = noDigests === undefined && seesDigests(session.principal);
  const { matches, mistakes, hints, fields, signedText, md5, sha1, action, alternatives, recipe } = explanation;
  const { digest: innerDigest = 'md5' } = explanation;
  const [title, tone] = !matches
    ? [text.wrong, 'bad' as const]
    : mistakes.length > 0
      ? [text.rightWithMistakes, 'wait' as const]
      : [text.right, 'good' as const];
  const digest = (value: string | null): Html | null =>
    value === null ? null : html`<span class="mono">${value}</span>`;
  return html`${notice(title, tone)}
${
  hints.length > 0 &&
  html`<section class="card" aria-labelledby="hints"><h2 id="hints">${text.hints}</h2><ul class="links">${hints.map((hint) => html`<li>${hint}</li>`)}</ul><p class="soft small">${text.mistakes} ${mistakes.map((mistake) => html`${badge(mistake, '')} `)}</p></section>`
}
<section class="card" aria-labelledby="signed"><h2 id="signed">${text.signedText}</h2><p class="soft">${recipe === 'reversed_md5' ? text.signedHintReversed : text.signedHint}</p><pre class="wrap">${signedText}</pre>${facts(
    [
      [text.operation, html`<span class="mono">${[action, ...alternatives].join(', ')}</span>`],
      [DIGEST_NAMES[innerDigest], isShown ? digest(md5) : undefined],
      // The recipe reversed_md5 has no outer digest.
      ['SHA-1', isShown && recipe !== 'reversed_md5' ? digest(sha1) : undefined],
    ],
  )}${!isShown && html`<p class="hint">${noDigests ?? text.noDigests}</p>`}</section>
<section class="card flush"><h2 class="inset">${text.fields}</h2>${
    fields.length > 0 ? table(text.fields, fieldColumns(), fields) : html`<p class="inset soft">${text.noFields}</p>`
  }</section>`;
}

async function showForm(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const call = query.call === undefined ? undefined : await findCall(gateway, session.principal, query.call);
  const mid = call?.mid ?? query.mid?.toLowerCase() ?? '';
  return debuggerPage(request, { entered: { mid, request: '', path: '' }, ...(call && { call }) });
}

async function explainForm(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, form } = request;
  const entered: Entered = {
    mid: (form.get('mid') ?? '').toLowerCase(),
    // A line break at the end comes from copying; it would become part of the last value of a form.
    request: (form.get('request') ?? '').replace(/^[\r\n]+|[\r\n]+$/g, ''),
    path: form.get('path') ?? '',
  };
  if (!isUuid(entered.mid)) {
    return debuggerPage(request, {
      entered,
      isHidden: true,
      status: 400,
      problems: [{ field: 'mid', sentence: text.chooseAccount }],
    });
  }
  const sent = { mid: entered.mid, text: entered.request, path: entered.path || undefined };
  try {
    const explanation = await explainAs(gateway, session.principal, caller, sent);
    const isHidden =
      explanation.mistakes.includes('password_sent') || !(await isShowable(gateway, session.principal, sent));
    return debuggerPage(request, { entered, isHidden, explanation });
  } catch (error) {
    if (!(error instanceof Refusal) || (error.error !== 'invalidData' && error.error !== 'noSuchAccount')) throw error;
    const { http, message } = ERRORS[error.error];
    const problems = error.error === 'noSuchAccount' ? [{ field: 'mid', sentence: message }] : error.problems;
    const isHidden = !(await isShowable(gateway, session.principal, sent));
    return debuggerPage(request, { entered, isHidden, problems, status: http });
  }
}

export const debuggerPages: readonly PanelRoute[] = [
  { method: 'GET', path: PATH, permission: 'requests.explain', scope: 'accounts', handle: showForm },
  {
    method: 'POST',
    path: PATH,
    permission: 'requests.explain',
    scope: 'accounts',
    unconfirmed: 'It changes nothing.',
    handle: explainForm,
  },
];
