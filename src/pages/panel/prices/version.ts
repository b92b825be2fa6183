/** The form of a new version of a price plan: from when on it is valid, and its lines, built from choices. */
import { addVersion, type StoredVersion } from '../../../core/prices/prices.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { type Problem, Refusal } from '../../../rules/errors.ts';
import { LINE_LISTS, LINE_NUMBERS, lineView, readVersion } from '../../../rules/price-plans.ts';
import { PRICE_EVENTS, REFUND_POLICIES } from '../../../rules/pricing.ts';
import { chipField, chipOffers, chipValues } from '../frame/chips.ts';
import { formToken } from '../frame/layout.ts';
import { choiceField, field, notice } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { listChoices, listLabel, PRICES, planPath, requirePlan, typedNumber } from './parts.ts';

const text = panelTexts.prices;

/** A form has a limited number of fields. */
const MOST_LINES = 15;
const NUMBERS = Object.values(LINE_NUMBERS);
const LINE_INPUTS = ['event', ...LINE_LISTS, ...NUMBERS] as const;
type LineTexts = Partial<Record<(typeof LINE_INPUTS)[number], string>>;

interface VersionTexts {
  valid_from: string;
  tax_percent: string;
  refund_policy: string;
  lines: LineTexts[];
}

/** The form of a plan begins with the prices of its last version. */
function storedTexts(last: StoredVersion | undefined): VersionTexts {
  const lines = (last?.lines ?? []).map(lineView).map((line): LineTexts => {
    const lists = LINE_LISTS.map((name) => [name, line[name].join(', ')]);
    const numbers = NUMBERS.map((name) => [name, line[name] ?? '']);
    return { event: line.event, ...Object.fromEntries([...lists, ...numbers]) };
  });
  return {
    valid_from: '',
    tax_percent: last?.taxPercent ?? '0',
    refund_policy: last?.refundPolicy ?? 'keep',
    lines: lines.length > 0 ? lines : [{ event: 'sale' }],
  };
}

function submittedTexts({ form }: PanelRequest): VersionTexts {
  const value = (name: string): string => (form.get(name) ?? '').trim();
  const lines: LineTexts[] = [];
  for (let index = 0; form.has(`line${index}.event`) && index < MOST_LINES; index++)
    lines.push(Object.fromEntries(LINE_INPUTS.map((name) => [name, value(`line${index}.${name}`)])));
  return {
    valid_from: value('valid_from'),
    tax_percent: value('tax_percent'),
    refund_policy: value('refund_policy'),
    lines,
  };
}

/** A line as the admin API would get it. */
const toBody = (line: LineTexts): Record<string, unknown> => ({
  event: line.event,
  ...Object.fromEntries(LINE_LISTS.map((name) => [name, chipValues(line[name])])),
  ...Object.fromEntries(NUMBERS.map((name) => [name, typedNumber(line[name])])),
});

const NUMBER_LABELS = {
  min_amount: () => panelTexts.connections.minAmount,
  max_amount: () => panelTexts.connections.maxAmount,
  percent: () => text.percent,
  fixed: () => text.fixed,
  minimum: () => text.minimum,
  maximum: () => text.maximum,
} as const satisfies Record<(typeof NUMBERS)[number], () => string>;

async function show(
  request: PanelRequest,
  submitted?: { texts: VersionTexts; problems: readonly Problem[] },
): Promise<PanelAnswer> {
  const { session } = request;
  const { planId, name, versions } = await requirePlan(request);
  const shown = submitted?.texts ?? storedTexts(versions.at(-1));
  const problems = submitted?.problems ?? [];
  const errorOf = (named: string): string | undefined => {
    const problem = problems.find(({ field: each }) => each === named);
    return problem && [problem.sentence, problem.expected].filter(Boolean).join(' ');
  };
  const lineFieldset = (line: LineTexts, index: number): Html => {
    const common = (input: (typeof LINE_INPUTS)[number]) => ({
      name: `line${index}.${input}`,
      value: line[input] ?? '',
      error: errorOf(`lines[${index}].${input}`),
    });
    return html`<fieldset class="card"><legend><h2>${text.line} ${index + 1}</h2></legend><div class="filters">${choiceField(
      { ...common('event'), label: text.event },
      [['', text.notUsed], ...PRICE_EVENTS.map((event) => [event, text.events[event]] as const)],
    )}${NUMBERS.toSorted(byPrice).map((input) =>
      field({
        ...common(input),
        label: NUMBER_LABELS[input](),
        attributes: html`inputmode="decimal" size="9" autocomplete="off"`,
      }),
    )}${LINE_LISTS.map((list) => chipField({ ...common(list), label: listLabel(list) }, list))}</div></fieldset>`;
  };
  const path = `${planPath(planId)}/new`;
  const title = `${text.newVersion}: ${name}`;
  const isTooLong = shown.lines.length > MOST_LINES;
  return {
    title,
    status: problems.length > 0 ? 400 : 200,
    body: html`<div class="head"><h1>${text.newVersion}: <a href="${planPath(planId)}">${name}</a></h1><p class="soft wide">${text.newVersionHint}</p></div>
${
  isTooLong
    ? notice(text.tooMany, 'wait')
    : html`${LINE_LISTS.map((list) => chipOffers(list, listChoices(list)))}<form method="post" action="${path}">${formToken(session)}<section class="card"><div class="filters">${field(
        {
          name: 'valid_from',
          label: text.validFrom,
          type: 'date',
          value: shown.valid_from,
          hint: text.validFromHint,
          error: errorOf('valid_from'),
        },
      )}${field({
        name: 'tax_percent',
        label: text.tax,
        value: shown.tax_percent,
        hint: text.taxHint,
        error: errorOf('tax_percent'),
        attributes: html`inputmode="decimal" size="7" autocomplete="off"`,
      })}${choiceField(
        {
          name: 'refund_policy',
          label: text.policy,
          value: shown.refund_policy,
          error: errorOf('refund_policy'),
        },
        REFUND_POLICIES.map((policy) => [policy, text.policies[policy]] as const),
      )}</div></section>${shown.lines.map(lineFieldset)}<div class="actions"><button>${text.save}</button>${
        shown.lines.length < MOST_LINES && html`<button class="quiet" name="add" value="1">${text.addLine}</button>`
      }<a class="button quiet" href="${planPath(planId)}">${text.cancel}</a></div></form>`
}`,
  };
}

/** The price first, then the amounts that it applies to. */
const byPrice = (a: string, b: string): number => Number(a.endsWith('_amount')) - Number(b.endsWith('_amount'));

async function save(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, form } = request;
  const { planId } = await requirePlan(request);
  const texts = submittedTexts(request);
  if (form.has('add')) return show(request, { texts: { ...texts, lines: [...texts.lines, {}] }, problems: [] });
  const kept = { ...texts, lines: texts.lines.filter(({ event }) => event !== '') };
  const { value, problems } = readVersion({
    ...kept,
    tax_percent: typedNumber(kept.tax_percent),
    lines: kept.lines.map(toBody),
  });
  if (problems) return show(request, { texts: kept, problems });
  try {
    await addVersion(gateway, caller, planId, value);
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'invalidData') throw error;
    return show(request, { texts: kept, problems: error.problems });
  }
  return { redirect: `${planPath(planId)}?done=1` };
}

const PATH = `${PRICES}/:planId/new`;

export const versionPages: readonly PanelRoute[] = [
  {
    method: 'GET',
    path: PATH,
    permission: 'prices.manage',
    scope: 'installation',
    confirmFirst: true,
    handle: (request) => show(request),
  },
  { method: 'POST', path: PATH, permission: 'prices.manage', scope: 'installation', confirmFor: PATH, handle: save },
];
