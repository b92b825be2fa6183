/** The pages on risk rules: the rules, and a form that builds one from choices. */
import type { BackTestResult, RiskRule } from '../../../core/context.ts';
import { recentEffect, requireConfirmed } from '../../../core/risk/back-tests.ts';
import { listLists } from '../../../core/risk/lists.ts';
import {
  changeRule,
  createRule,
  deleteRule,
  doesOther,
  listRules,
  readRule,
  requireRule,
} from '../../../core/risk/rules.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { Refusal } from '../../../rules/errors.ts';
import { LIMITS } from '../../../rules/limits.ts';
import {
  ACTION_KINDS,
  type Action,
  type ActionKind,
  DEFAULT_PRIORITY,
  EXEMPTIONS,
  REVIEW_ENDS,
  RULE_STATES,
} from '../../../rules/risk/actions.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { accountNames } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import {
  badge,
  type Column,
  choiceField,
  empty,
  field,
  idCursor,
  notice,
  pager,
  refusalText,
  table,
} from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { conditionFields } from './condition-form.ts';
import { changedGroups, compose, FIRST, type Groups, groupsOf, rowAt, submittedGroups } from './condition-rows.ts';
import { effectCard } from './effect.ts';
import { riskHead } from './head.ts';

const RULES = '/admin/risk/rules';
const text = panelTexts.risk;

const TONES = { on: 'good', shadow: 'wait', off: '' } as const;

async function showRules(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const { mids, role } = session.principal;
  const names = await accountNames(request);
  const { items, last } = keysetPage(
    await listRules(gateway, { mids }, LIMITS.adminPageSize + 1, idCursor(query)),
    LIMITS.adminPageSize,
  );
  const mayManage = isAllowed(role, 'risk.manage');
  const columns: Column<RiskRule>[] = [
    { label: text.name, cell: (rule) => html`<a href="${RULES}/${rule.ruleId}">${rule.name}</a>` },
    { label: text.state, cell: ({ state }) => badge(text.states[state], TONES[state]) },
    { label: text.action, cell: ({ action }) => text.actions[action.kind] },
    { label: text.account, cell: ({ mid }) => (mid === null ? text.installation : (names.get(mid) ?? mid)) },
  ];
  const done: Readonly<Record<string, string>> = { saved: text.saved, deleted: text.deleted };
  return {
    title: text.tabs.rules,
    body: html`${notice(query.done && done[query.done])}${riskHead(
      'rules',
      mids,
      mayManage && html`<a class="button" href="${RULES}/new">${text.newRule}</a>`,
    )}<div class="card flush">${
      items.length > 0 ? table(text.tabs.rules, columns, items) : empty(text.noRules, text.noRulesHint)
    }</div>${pager(RULES, query, last?.ruleId)}`,
  };
}

/** What a form shows: the values of a rule, or those that were typed. */
interface Shown {
  rule?: RiskRule | undefined;
  /** What the rule would have done, before it decides. */
  effect?: BackTestResult | undefined;
  /** The rule is saved if the form is submitted once more. */
  isAsked?: boolean;
  /** The rows of the condition, if they are not those that were sent. */
  groups?: Groups | undefined;
  error?: { field: string; sentence: string } | undefined;
}

/** The details that actions have, each shown with its action. */
function actionFields(value: (name: string, stored: string) => string, action: Action, shown: Shown['error']): Html {
  const errorOf = (name: string) => (shown?.field === `action.${name}` ? shown.sentence : undefined);
  const { hours, then, reason, points } = { hours: 24, then: 'refuse', reason: 'low_value', points: 10, ...action };
  const when = (kind: ActionKind, part: Html): Html => html`<div data-when="action ${kind}">${part}</div>`;
  const number = (name: 'hours' | 'points', stored: number): Html =>
    field({ name, label: text[name], type: 'number', value: value(name, String(stored)), error: errorOf(name) });
  return html`${when('review', html`${number('hours', hours)}${choiceField({ name: 'then', label: text.then, value: value('then', then) }, choices(REVIEW_ENDS, text.ends))}`)}
${when('exempt', choiceField({ name: 'reason', label: text.reason, value: value('reason', reason) }, choices(EXEMPTIONS, text.exemptions)))}
${when('score', number('points', points))}`;
}

const choices = <Name extends string>(all: readonly Name[], texts: Readonly<Record<Name, string>>) =>
  all.map((one): [string, string] => [one, texts[one]]);

async function showForm(
  request: PanelRequest,
  { rule, effect, isAsked = false, groups: changed, error }: Shown = {},
): Promise<PanelAnswer> {
  const { gateway, session, form } = request;
  const { mids } = session.principal;
  const names = await accountNames(request);
  const lists = (await listLists(gateway, { mids }, LIMITS.riskRulesMost)).map(
    ({ listId, name }) => [listId, name] as const,
  );
  const path = rule ? `${RULES}/${rule.ruleId}` : RULES;
  const value = (name: string, stored: string): string => form.get(name) ?? stored;
  const errorOf = (...fields: string[]): string | undefined =>
    error && fields.some((one) => error.field === one || error.field.startsWith(`${one}.`))
      ? error.sentence
      : undefined;
  const groups = changed ?? submittedGroups(form) ?? (rule ? groupsOf(rule.condition) : FIRST);
  const json = value('json', rule && !groups ? JSON.stringify(rule.condition, null, 2) : '');
  const row = error && groups && json === '' ? rowAt(compose(groups).paths, error.field) : undefined;
  const jsonError = errorOf('json', ...(row === undefined ? ['condition'] : []));
  const title = rule?.name ?? text.newRule;
  return {
    title,
    status: error ? 400 : 200,
    // The first button is the one that the Enter key presses.
    body: html`<div class="head"><h1>${title}</h1></div>${error && notice(error.sentence, 'bad')}${effect && effectCard(effect, isAsked)}
<form class="card" method="post" action="${path}">${formToken(session)}<button hidden></button>${isAsked && html`<input type="hidden" name="seen" value="1">`}
${field({ name: 'name', label: text.name, value: value('name', rule?.name ?? ''), error: errorOf('name') })}
${
  !rule &&
  choiceField({ name: 'mid', label: text.account, value: form.get('mid') ?? '', error: errorOf('mid') }, [
    ...(mids === null ? [['', text.installation] as const] : []),
    ...names,
  ])
}
${choiceField({ name: 'state', label: text.state, value: value('state', rule?.state ?? 'shadow') }, choices(RULE_STATES, text.states))}
${choiceField({ name: 'action', label: text.action, value: value('action', rule?.action.kind ?? 'block') }, choices(ACTION_KINDS, text.actions))}
${actionFields(value, rule?.action ?? { kind: 'block' }, error)}
${field({ name: 'priority', label: text.priority, type: 'number', value: value('priority', String(rule?.priority ?? DEFAULT_PRIORITY)), hint: text.priorityHint, error: errorOf('priority') })}
<h2 class="field">${text.condition}</h2>${
      groups &&
      conditionFields({
        groups,
        lists,
        error: error && row !== undefined ? { row, sentence: error.sentence } : undefined,
      })
    }
<details class="field"${(json !== '' || jsonError !== undefined) && html` open`}><summary>${text.json}</summary>${field({ name: 'json', label: text.json, hint: groups && text.jsonHint, error: jsonError }, (attributes) => html`<textarea ${attributes} rows="8" spellcheck="false" class="mono">${json}</textarea>`)}</details>
${error?.field === 'confirm' && html`<p class="field"><label><input type="checkbox" name="confirm" value="1"> ${text.confirm}</label></p>`}
<div class="actions"><button>${rule ? text.save : text.create}</button></div></form>
${rule && html`<form method="post" action="${path}/delete">${formToken(session)}<div class="actions"><button class="quiet danger">${text.delete}</button></div></form>`}`,
  };
}

async function showRule(request: PanelRequest): Promise<PanelAnswer> {
  const rule = await requireRule(request.gateway, request.session.principal, request.params.ruleId ?? '');
  return showForm(request, { rule, effect: await recentEffect(request.gateway, rule) });
}

/** The condition that the choices of a form stand for, or its JSON. */
function conditionOf(form: PanelRequest['form']): unknown {
  const json = form.get('json')?.trim() ?? '';
  if (json === '') return compose(submittedGroups(form) ?? FIRST).condition;
  try {
    return JSON.parse(json);
  } catch {
    throw new Refusal('invalidData', [{ field: 'json', sentence: text.notJson }]);
  }
}

/** A number as it was typed; a text that is none is refused later, with its field. */
const numberOf = (typed: string | undefined): number | string | undefined =>
  typed !== undefined && /^-?\d+$/.test(typed.trim()) ? Number(typed) : typed;

/** The action of a kind with its details; a form without them keeps those of the rule. */
function actionOf(form: PanelRequest['form'], stored: Partial<Action> = {}): unknown {
  const kind = form.get('action') as ActionKind;
  const { hours, then, reason, points } = { hours: 24, then: 'refuse', reason: 'low_value', points: 10, ...stored };
  if (kind === 'review') return { kind, hours: numberOf(form.get('hours')) ?? hours, then: form.get('then') ?? then };
  if (kind === 'exempt') return { kind, reason: form.get('reason') ?? reason };
  return kind === 'score' ? { kind, points: numberOf(form.get('points')) ?? points } : { kind };
}

const STOPPING: readonly ActionKind[] = ['block', 'review', 'score'];

/** Whether a rule begins to stop payments, or stops other ones than before: what it would have done is shown first. */
const stopsOthers = (wanted: Pick<RiskRule, 'state' | 'condition' | 'action'>, rule: RiskRule | undefined): boolean =>
  wanted.state === 'on' && STOPPING.includes(wanted.action.kind) && (rule === undefined || doesOther(wanted, rule));

async function save(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, params, form } = request;
  const { principal } = session;
  const rule = params.ruleId === undefined ? undefined : await requireRule(gateway, principal, params.ruleId);
  const [add, remove] = [form.get('add'), form.get('remove')];
  if (add !== undefined || remove !== undefined)
    return showForm(request, { rule, groups: changedGroups(submittedGroups(form) ?? FIRST, add, remove) });
  let effect: BackTestResult | undefined;
  try {
    const mid = rule ? rule.mid : form.get('mid') || null;
    const sent = {
      name: form.get('name'),
      state: form.get('state'),
      action: actionOf(form, rule?.action),
      condition: conditionOf(form),
      priority: numberOf(form.get('priority')),
    };
    const confirm: Parameters<typeof createRule>[5] = (wanted) =>
      requireConfirmed(gateway, wanted, form.get('confirm') === '1');
    const wanted = await readRule(gateway, principal, mid, sent);
    if (stopsOthers(wanted, rule)) {
      effect = await recentEffect(gateway, wanted);
      await confirm(wanted);
      if (form.get('seen') !== '1') return showForm(request, { rule, effect, isAsked: true });
    }
    if (rule) await changeRule(gateway, principal, caller, rule.ruleId, sent, confirm);
    else await createRule(gateway, principal, caller, mid, sent, confirm);
    return { redirect: `${RULES}?done=saved` };
  } catch (error) {
    const problem = error instanceof Refusal && error.error === 'invalidData' ? error.problems[0] : undefined;
    if (!problem) throw error;
    return showForm(request, {
      rule,
      effect,
      isAsked: effect !== undefined,
      error: { field: problem.field, sentence: refusalText(error as Refusal) },
    });
  }
}

async function remove({ gateway, session, caller, params }: PanelRequest): Promise<PanelAnswer> {
  await deleteRule(gateway, session.principal, caller, params.ruleId ?? '');
  return { redirect: `${RULES}?done=deleted` };
}

const ONE = `${RULES}/:ruleId`;

export const riskRulePages: readonly PanelRoute[] = [
  { method: 'GET', path: RULES, permission: 'risk.view', scope: 'accounts', handle: showRules },
  {
    method: 'GET',
    path: `${RULES}/new`,
    permission: 'risk.manage',
    scope: 'accounts',
    confirmFirst: true,
    handle: (request) => showForm(request),
  },
  {
    method: 'POST',
    path: RULES,
    permission: 'risk.manage',
    scope: 'installation without mid',
    confirmFor: RULES,
    handle: save,
  },
  {
    method: 'GET',
    path: ONE,
    permission: 'risk.manage',
    scope: 'accounts',
    confirmFirst: true,
    handle: showRule,
  },
  { method: 'POST', path: ONE, permission: 'risk.manage', scope: 'accounts', confirmFor: RULES, handle: save },
  {
    method: 'POST',
    path: `${ONE}/delete`,
    permission: 'risk.manage',
    scope: 'accounts',
    confirmFor: RULES,
    handle: remove,
  },
];
