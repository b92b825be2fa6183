/** The page that resends many callbacks: those of a payment or an account, after it has shown how many they are. */
import { countCallbacks, resendCallbacks } from '../../../core/callbacks/log.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { html } from '../../../lib/text/html.ts';
import { CALLBACK_STATES } from '../../../rules/callbacks.ts';
import { Refusal } from '../../../rules/errors.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { accountNames, dayStart } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import { choiceField, empty, facts, field, notice, refusalText } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { stateChoices } from './states.ts';

const PATH = '/admin/callbacks/resend';
const text = panelTexts.callbacks;

/** The fields of the form, from the address before the confirmation and from the form after it. */
const FIELDS = ['mid', 'payment_id', 'state', 'from', 'to'] as const;
type Chosen = Partial<Record<(typeof FIELDS)[number], string>>;

const chosenFrom = (read: (name: string) => string | undefined): Chosen =>
  Object.fromEntries(FIELDS.flatMap((name) => (read(name) ? [[name, read(name)]] : [])));

/** Undefined if neither a payment nor an account is chosen. A value that is not valid must not resend more than was meant. */
function filterOf(chosen: Chosen, { session }: Pick<PanelRequest, 'session'>) {
  const [from, to] = [dayStart(chosen.from), dayStart(chosen.to)];
  const state = CALLBACK_STATES.find((one) => one === chosen.state);
  const isValid =
    (chosen.mid === undefined || isUuid(chosen.mid)) &&
    (chosen.payment_id === undefined || isUuid(chosen.payment_id)) &&
    (chosen.state === undefined) === (state === undefined) &&
    (chosen.from === undefined) === (from === undefined) &&
    (chosen.to === undefined) === (to === undefined);
  if (!isValid || (chosen.mid === undefined && chosen.payment_id === undefined)) return undefined;
  const until = to === undefined ? undefined : to + LIMITS.dayMs;
  const { mid, payment_id: paymentId } = chosen;
  return { mid, paymentId, state, from, to: until, mids: session.principal.mids };
}

async function show(request: PanelRequest, chosen: Chosen, isRefused = false): Promise<PanelAnswer> {
  const { gateway, query } = request;
  const names = await accountNames(request);
  const isChosen = isRefused || Object.keys(chosen).length > 0;
  const filter = filterOf(chosen, request);
  let count: number | undefined;
  let error: string | undefined = isChosen && !filter ? text.chooseFirst : undefined;
  try {
    count = filter && (await countCallbacks(gateway, filter, LIMITS.countedMost));
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    error = refusalText(refusal);
  }
  const number = count === LIMITS.countedMost ? `${text.atLeast} ${count}` : String(count);
  return {
    title: text.resendMany,
    status: error === undefined ? 200 : 400,
    body: html`${query.resent !== undefined && notice(`${text.resentMany} ${query.resent}`)}
<div class="head"><h1>${text.resendMany}</h1><p class="soft">${text.resendLead}</p></div>
<form class="filters" action="${PATH}">${
      chosen.payment_id === undefined
        ? choiceField({ name: 'mid', label: panelTexts.payments.account, value: chosen.mid, error }, [
            ['', '–'],
            ...names,
          ])
        : field({ name: 'payment_id', label: text.payment, value: chosen.payment_id, error })
    }
${choiceField({ name: 'state', label: text.state, value: chosen.state }, [['', panelTexts.payments.any], ...stateChoices()])}
${field({ name: 'from', label: panelTexts.payments.from, value: chosen.from, type: 'date' })}
${field({ name: 'to', label: panelTexts.payments.to, value: chosen.to, type: 'date' })}
<button class="quiet">${text.count}</button></form>
${
  count === 0
    ? html`<div class="card">${empty(text.nothingToResend, text.nothingToResendHint)}</div>`
    : count !== undefined &&
      html`<div class="card narrow"><h2>${text.willResend} ${number}</h2><p>${text.resendConfirm}</p>${facts([
        [panelTexts.payments.account, chosen.mid && (names.get(chosen.mid) ?? chosen.mid)],
        [text.payment, chosen.payment_id],
        [text.state, stateChoices().find(([state]) => state === chosen.state)?.[1]],
        [panelTexts.payments.from, chosen.from],
        [panelTexts.payments.to, chosen.to],
      ])}<form method="post" action="${PATH}">${formToken(request.session)}${Object.entries(chosen).map(
        ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
      )}<div class="actions"><button>${text.resendAll}</button> <a class="button quiet" href="/admin/callbacks">${panelTexts.payment.cancel}</a></div></form></div>`
}`,
  };
}

async function resend(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, form } = request;
  const chosen = chosenFrom((name) => form.get(name));
  const filter = filterOf(chosen, request);
  if (!filter) return show(request, chosen, true);
  const resent = await resendCallbacks(gateway, caller, filter);
  return { redirect: `${PATH}?resent=${resent}` };
}

export const resendPages: readonly PanelRoute[] = [
  {
    method: 'GET',
    path: PATH,
    permission: 'callbacks.resend',
    scope: 'accounts',
    handle: (request) =>
      show(
        request,
        chosenFrom((name) => request.query[name]),
      ),
  },
  {
    method: 'POST',
    path: PATH,
    permission: 'callbacks.resend',
    scope: 'accounts',
    unconfirmed: 'It sends the same callbacks to the account again.',
    handle: resend,
  },
];
