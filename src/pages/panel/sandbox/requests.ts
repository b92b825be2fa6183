/** The page of the sandbox console that sends any other request of a merchant: status, capture, refund, schedule, link. */
import type { Account, PaymentWithDetails } from '../../../core/context.ts';
import { auditEntry } from '../../../core/operators/principal.ts';
import { listPayments } from '../../../core/payments/find.ts';
import {
  CONSOLE_CALLS,
  type ConsoleCall,
  callAddress,
  callFields,
  callRequest,
} from '../../../core/sandbox/console-calls.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { html } from '../../../lib/text/html.ts';
import { formToken } from '../frame/layout.ts';
import { choiceField, withQuery } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import {
  accountForm,
  type ChosenAccount,
  chosenAccount,
  consolePage,
  errorIn,
  newOrder,
  PATHS,
  withoutAccounts,
} from './frame.ts';
import { consoleInput, exchangeOf, type Outcome, outcomeView, sendRequest } from './outcome.ts';

const text = panelTexts.sandboxConsole;

const readCall = (name: string | undefined): ConsoleCall =>
  CONSOLE_CALLS.find((one) => one === name) ?? 'GET_TRANS_STATUS';

/** The payment that the form is about: the named one, if it is of this account, or else the newest. */
async function paymentFor(
  { gateway }: PanelRequest,
  { mid }: Account,
  paymentId: string | undefined,
): Promise<Pick<PaymentWithDetails, 'paymentId' | 'orderId'> | undefined> {
  const named = isUuid(paymentId ?? '')
    ? await gateway.payments.find({ mid, paymentId: paymentId as string })
    : undefined;
  return named ?? (await listPayments(gateway, { mid, mids: [mid], limit: 1 })).payments[0];
}

async function page(
  request: PanelRequest,
  chosen: ChosenAccount,
  call: ConsoleCall,
  outcome?: Outcome,
): Promise<PanelAnswer> {
  const { gateway, session, query, form: sent } = request;
  const { account } = chosen;
  if (!account) return withoutAccounts('requests');
  const payment = await paymentFor(request, account, query.payment);
  const fields = await callFields(gateway, account, call, payment, newOrder());
  const problems = outcome?.problems ?? [];
  const choices = choiceField(
    { name: 'call', label: text.request, value: call },
    CONSOLE_CALLS.map((one): [string, string] => [one, callAddress(one)]),
  );
  const action = withQuery(PATHS.requests, { call });
  return consolePage(
    'requests',
    account,
    html`${accountForm('requests', chosen, choices)}
${outcome && (await outcomeView(gateway, account, outcome, fields))}${outcome && !outcome.isRefused && exchangeOf(outcome)}
<form method="post" action="${action}">${formToken(session)}<input type="hidden" name="mid" value="${account.mid}">
<p class="soft">${text.intro}</p>
<fieldset class="card"><legend><h2><code>${callAddress(call)}</code></h2></legend><div class="columns even">${fields.map(
      (one) => consoleInput(one, outcome ? sent.get(one.name) : undefined, errorIn(problems, one.name)),
    )}</div></fieldset>
<div class="actions"><button>${text.send}</button></div></form>${outcome?.isRefused && html`<div class="field">${exchangeOf(outcome)}</div>`}`,
    outcome?.isRefused ? 400 : 200,
  );
}

async function showForm(request: PanelRequest): Promise<PanelAnswer> {
  return page(request, await chosenAccount(request, request.query.mid), readCall(request.query.call));
}

async function send(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, form, query } = request;
  const chosen = await chosenAccount(request, form.get('mid') ?? '');
  const account = chosen.account as Account;
  const call = readCall(query.call);
  const fields = await callFields(gateway, account, call, undefined, '');
  const composed = callRequest(account, call, new Map(fields.map(({ name }) => [name, form.get(name) ?? ''])));
  const facts = { mid: account.mid, subject: callAddress(call) };
  await gateway.audit.append(auditEntry(gateway, caller, 'sandbox.request', facts));
  return page(request, chosen, call, await sendRequest(request, composed));
}

const common = { path: PATHS.requests, permission: 'sandbox.use', scope: 'accounts', isSandboxOnly: true } as const;

export const consoleRequestPages: readonly PanelRoute[] = [
  { method: 'GET', ...common, handle: showForm },
  { method: 'POST', ...common, unconfirmed: 'The sandbox moves no money.', handle: send },
];
