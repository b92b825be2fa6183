/** The pages on chargebacks: the list with its deadlines, and one with its note, its state and its evidence. */
import {
  addEvidence,
  changeChargeback,
  deleteEvidence,
  listChargebacks,
  listEvidence,
  readEvidence,
  requireChargeback,
} from '../../../core/chargebacks/chargebacks.ts';
import type { Evidence, ListedChargeback } from '../../../core/context.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import {
  CHARGEBACK_STAGES,
  CHARGEBACK_STATES,
  type ChargebackState,
  EVIDENCE_LIMITS,
  URGENT_DAYS,
} from '../../../rules/chargebacks.ts';
import { Refusal } from '../../../rules/errors.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { readFile } from '../../multipart.ts';
import { accountNames, dayStart } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import {
  badge,
  type Column,
  choiceField,
  empty,
  facts,
  field,
  money,
  notice,
  pager,
  refusalText,
  table,
  time,
} from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { isEdited, shownValues } from '../frame/shown.ts';
import { panelTexts } from '../locales/index.ts';

const PAGE_SIZE = 25;
const PATH = '/admin/chargebacks';
const text = panelTexts.chargebacks;

const TONES = { open: 'bad', answered: 'wait', won: 'good', lost: '', closed: '' } as const satisfies Record<
  ChargebackState,
  string
>;
const stateBadge = (state: ChargebackState): Html => badge(text.states[state], TONES[state]);
const stateChoices = () => CHARGEBACK_STATES.map((one): [string, string] => [one, text.states[one]]);
const stageChoices = () => CHARGEBACK_STAGES.map((one): [string, string] => [one, text.stages[one]]);
const stateOf = (value: string | undefined) => CHARGEBACK_STATES.find((one) => one === value);

/** The deadline, and whether it is close or past while the chargeback is open. */
function deadline({ respondBy, state }: ListedChargeback, now: number): Html {
  if (respondBy === null) return html`<span class="soft">${text.noAnswer}</span>`;
  const left = respondBy - now;
  const isUrgent = state === 'open' && left < URGENT_DAYS * LIMITS.dayMs;
  return html`${time(respondBy)}${isUrgent && html` ${left < 0 ? badge(text.overdue, 'bad') : badge(text.soon, 'wait')}`}`;
}

const readCursor = (cursor: string | undefined) => {
  const [receivedAt = '', paymentId = ''] = cursor?.split('.') ?? [];
  return /^\d{1,14}$/.test(receivedAt) && isUuid(paymentId) ? { receivedAt: Number(receivedAt), paymentId } : undefined;
};

async function showList(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const names = await accountNames(request);
  const to = dayStart(query.to);
  const filter = {
    state: stateOf(query.state),
    stage: CHARGEBACK_STAGES.find((one) => one === query.stage),
    mid: isUuid(query.mid ?? '') ? query.mid : undefined,
    from: dayStart(query.from),
    to: to === undefined ? undefined : to + LIMITS.dayMs,
    mids: session.principal.mids,
  };
  const rows = await listChargebacks(gateway, filter, PAGE_SIZE + 1, readCursor(query.cursor));
  const { items, last } = keysetPage(rows, PAGE_SIZE);
  const columns: Column<ListedChargeback>[] = [
    { label: text.received, cell: ({ receivedAt }) => time(receivedAt) },
    {
      label: text.order,
      cell: ({ paymentId, orderId, note }) =>
        html`<a href="${PATH}/${paymentId}">${orderId}</a>${note && html`<p class="soft small">${note}</p>`}`,
    },
    { label: text.amount, isNumber: true, cell: ({ amount, currency }) => money(amount, currency) },
    { label: text.stage, cell: ({ stage }) => text.stages[stage] },
    { label: text.state, cell: ({ state }) => stateBadge(state) },
    { label: text.respondBy, cell: (one) => deadline(one, gateway.clock.now(one.mid)) },
    { label: text.files, isNumber: true, cell: ({ files }) => files },
    { label: text.account, cell: ({ mid }) => names.get(mid) ?? html`<span class="mono">${mid}</span>` },
  ];
  const isFiltered = Object.keys(query).length > 0;
  return {
    title: panelTexts.sections.chargebacks,
    body: html`<div class="head"><h1>${panelTexts.sections.chargebacks}</h1></div>
<form class="filters" action="${PATH}">${choiceField({ name: 'state', label: text.state, value: query.state }, [['', panelTexts.payments.any], ...stateChoices()])}
${choiceField({ name: 'stage', label: text.stage, value: query.stage }, [['', panelTexts.payments.any], ...stageChoices()])}
${choiceField({ name: 'mid', label: text.account, value: query.mid }, [['', panelTexts.payments.any], ...names])}
${field({ name: 'from', label: panelTexts.payments.from, value: query.from, type: 'date' })}
${field({ name: 'to', label: panelTexts.payments.to, value: query.to, type: 'date' })}
<button>${panelTexts.payments.filter}</button>${isFiltered && html`<a class="button quiet" href="${PATH}">${panelTexts.payments.clear}</a>`}</form>
<div class="card flush">${
      items.length > 0
        ? table(panelTexts.sections.chargebacks, columns, items)
        : isFiltered
          ? empty(text.nothingFound, text.nothingFoundHint)
          : empty(text.none, text.noneHint)
    }${pager(PATH, query, last && `${last.receivedAt}.${last.paymentId}`)}</div>`,
  };
}

const sizeText = (bytes: number): string => (bytes < 1024 ? `${bytes} B` : `${Math.ceil(bytes / 1024)} KB`);

/** The page of one chargeback; `error` belongs to the form that was refused. */
async function showChargeback(
  request: PanelRequest,
  error: { note?: string | undefined; file?: string | undefined } = {},
): Promise<PanelAnswer> {
  const { gateway, session, query, params, form } = request;
  const { principal } = session;
  const found = await requireChargeback(gateway, principal, params.paymentId ?? '');
  const files = await listEvidence(gateway, principal, found.paymentId);
  const names = await accountNames(request);
  const details = (await gateway.payments.findAnywhere(found.paymentId))?.details;
  const payer = details?.payer ?? {};
  const path = `${PATH}/${found.paymentId}`;
  const mayChange = isAllowed(principal.role, 'chargebacks.change');
  const columns: Column<Evidence>[] = [
    { label: text.name, cell: ({ evidenceId, name }) => html`<a href="${path}/evidence/${evidenceId}">${name}</a>` },
    { label: text.type, cell: ({ mediaType }) => mediaType },
    { label: text.size, isNumber: true, cell: ({ sizeBytes }) => sizeText(sizeBytes) },
    { label: text.addedBy, cell: ({ addedBy }) => addedBy },
    { label: text.added, cell: ({ createdAt }) => time(createdAt) },
    ...(mayChange
      ? [
          {
            label: text.delete,
            cell: ({ evidenceId }: Evidence) =>
              html`<a href="${path}/evidence/${evidenceId}/delete">${text.delete}</a>`,
          },
        ]
      : []),
  ];
  const isRefused = error.note !== undefined || error.file !== undefined;
  const done: Readonly<Record<string, string>> = { saved: text.saved, added: text.uploaded, deleted: text.deleted };
  return {
    title: `${text.chargeback} ${money(found.amount, found.currency)}`,
    status: isRefused ? 400 : 200,
    body: html`${notice(query.done && done[query.done])}
<div class="head"><h1>${text.chargeback} ${money(found.amount, found.currency)}</h1>${stateBadge(found.state)}</div>
<div class="columns even"><section class="card" aria-labelledby="facts"><h2 id="facts">${panelTexts.payment.details}</h2>${facts(
      [
        [text.payment, html`<a class="mono" href="/admin/payments/${found.paymentId}">${found.paymentId}</a>`],
        [text.order, found.orderId],
        [text.account, html`<a href="/admin/accounts/${found.mid}">${names.get(found.mid) ?? found.mid}</a>`],
        [panelTexts.payment.payer, [payer.first_name, payer.last_name].filter(Boolean).join(' ') || undefined],
        [panelTexts.payment.email, payer.email],
        [panelTexts.payment.card, details?.card && html`<code>${details.card.masked}</code>`],
        [text.stage, text.stages[found.stage]],
        [text.reason, found.reason || undefined],
        [text.received, time(found.receivedAt)],
        [text.respondBy, deadline(found, gateway.clock.now(found.mid))],
        [text.note, mayChange ? undefined : found.note],
      ],
    )}</section>
${
  mayChange &&
  html`<section class="card" aria-labelledby="respond"><h2 id="respond">${text.respond}</h2><p class="soft">${text.respondHint}</p><form method="post" action="${path}">${formToken(session)}${shownValues(form, { state: found.state, note: found.note })}${choiceField(
    { name: 'state', label: text.state, value: form.get('state') ?? found.state },
    stateChoices(),
  )}${field({ name: 'note', label: text.note, hint: text.noteHint, error: error.note }, (attributes) => html`<textarea ${attributes} rows="3">${form.get('note') ?? found.note}</textarea>`)}<div class="actions"><button>${text.save}</button></div></form></section>`
}</div>
<section class="card flush"><h2 class="inset">${text.evidence}</h2><p class="inset soft">${text.evidenceHint}</p>${
      files.length > 0 ? table(text.evidence, columns, files) : html`<p class="inset soft">${text.noEvidence}</p>`
    }${
      mayChange &&
      html`<form class="inset" method="post" enctype="multipart/form-data" action="${path}/evidence">${formToken(session)}${field(
        {
          name: 'file',
          label: text.file,
          type: 'file',
          hint: text.fileHint,
          error: error.file,
          attributes: html`accept=".pdf,.png,.jpg,.jpeg,.txt"`,
        },
        (attributes) => html`<input ${attributes} type="file">`,
      )}<div class="actions"><button class="quiet">${text.upload}</button></div></form>`
    }</section>`,
  };
}

/** Shows the page again with the error beside the field, if the input was refused. */
async function unlessRefused(
  request: PanelRequest,
  name: 'note' | 'file',
  change: () => Promise<string>,
): Promise<PanelAnswer> {
  try {
    return { redirect: `${PATH}/${request.params.paymentId}?done=${await change()}` };
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'invalidData') throw error;
    return showChargeback(request, { [name]: refusalText(error) });
  }
}

const save = (request: PanelRequest): Promise<PanelAnswer> =>
  unlessRefused(request, 'note', async () => {
    const { gateway, session, caller, params, form } = request;
    const { state, note } = await requireChargeback(gateway, session.principal, params.paymentId ?? '');
    const changes = {
      state: isEdited(form, 'state', state) ? stateOf(form.get('state')) : undefined,
      note: isEdited(form, 'note', note) ? form.get('note') : undefined,
    };
    await changeChargeback(gateway, session.principal, caller, params.paymentId ?? '', changes);
    return 'saved';
  });

async function upload(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller, params, file } = request;
  if (!file || file.name === '') return showChargeback(request, { file: text.noFile });
  return unlessRefused(request, 'file', async () => {
    const bytes = await readFile(file, EVIDENCE_LIMITS.bytes);
    await addEvidence(gateway, session.principal, caller, params.paymentId ?? '', { name: file.name, bytes });
    return 'added';
  });
}

async function download({ gateway, session, params }: PanelRequest): Promise<PanelAnswer> {
  const { paymentId = '', evidenceId = '' } = params;
  const { evidence, bytes } = await readEvidence(gateway, session.principal, paymentId, evidenceId);
  return { file: { name: evidence.name, mediaType: evidence.mediaType, bytes } };
}

async function confirmDelete({ gateway, session, params }: PanelRequest): Promise<PanelAnswer> {
  const { paymentId = '', evidenceId = '' } = params;
  const { evidence } = await readEvidence(gateway, session.principal, paymentId, evidenceId);
  const path = `${PATH}/${evidence.paymentId}`;
  return {
    title: text.deleteTitle,
    body: html`<div class="card narrow"><h1>${text.deleteTitle}</h1><p>${text.deleteConfirm}</p>${facts([
      [text.name, evidence.name],
      [text.addedBy, evidence.addedBy],
      [text.added, time(evidence.createdAt)],
    ])}<form method="post" action="${path}/evidence/${evidence.evidenceId}/delete">${formToken(session)}<div class="actions"><button class="danger">${text.deleteTitle}</button> <a class="button quiet" href="${path}">${panelTexts.payment.cancel}</a></div></form></div>`,
  };
}

async function performDelete({ gateway, session, caller, params }: PanelRequest): Promise<PanelAnswer> {
  const { paymentId = '', evidenceId = '' } = params;
  await deleteEvidence(gateway, session.principal, caller, paymentId, evidenceId);
  return { redirect: `${PATH}/${paymentId}?done=deleted` };
}

const ONE = `${PATH}/:paymentId`;
const FILE = `${ONE}/evidence/:evidenceId`;

export const chargebackPages: readonly PanelRoute[] = [
  { method: 'GET', path: PATH, permission: 'chargebacks.view', scope: 'accounts', handle: showList },
  {
    method: 'GET',
    path: ONE,
    permission: 'chargebacks.view',
    scope: 'accounts',
    handle: (request) => showChargeback(request),
  },
  {
    method: 'POST',
    path: ONE,
    permission: 'chargebacks.change',
    scope: 'accounts',
    unconfirmed: 'A note and a state move no money, and can be set back.',
    handle: save,
  },
  {
    method: 'POST',
    path: `${ONE}/evidence`,
    permission: 'chargebacks.change',
    scope: 'accounts',
    unconfirmed: 'It adds a file, and deletes none.',
    handle: upload,
  },
  { method: 'GET', path: FILE, permission: 'chargebacks.view', scope: 'accounts', isDownload: true, handle: download },
  {
    method: 'GET',
    path: `${FILE}/delete`,
    permission: 'chargebacks.change',
    scope: 'accounts',
    confirmFirst: true,
    handle: confirmDelete,
  },
  {
    method: 'POST',
    path: `${FILE}/delete`,
    permission: 'chargebacks.change',
    scope: 'accounts',
    confirmFor: ONE,
    handle: performDelete,
  },
];
