/** The bank's access control server: the page that asks the payer for a code, and the one that sends them back. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { html } from '../src/lib/html.ts';
import { isObject } from '../src/lib/json.ts';
import type { Authentication } from './card-ledger.ts';
import { answerChallenge, CODE, challengedBy, cresOf, triesLeft } from './challenge.ts';
import { readCreq } from './creq.ts';
import { formatAmount } from './money.ts';
import { icon, messagePage, ownFormsOnly, type Page, sendPage } from './page.ts';
import type { Simulator } from './payments.ts';

const TITLE = 'Confirm your payment';

const unknownTransaction = (): Page =>
  messagePage(
    'The bank does not know this payment',
    'No challenge of this acsTransID and threeDSServerTransID is open here. Please go back to the shop and start again.',
  );

function challengePage(authentication: Authentication, problem = ''): Page {
  const { acsTransID, merchant, amount, currency, last4 } = authentication;
  const shown = formatAmount(amount, currency);
  const isWrong = problem !== '';
  return {
    title: isWrong ? `Problem: ${TITLE}` : TITLE,
    scene: 'bank',
    body: html`<main class="card">
<p class="who">${icon('bank')} Simulated bank <span class="brand">3-D Secure</span></p>
<h1>${TITLE}</h1>
<p class="amount ${shown.length > 14 && 'wide'}">${shown}</p>
<p class="lead">Please enter the code that we have sent to your phone.</p>
<dl class="facts">
<div><dt>Shop</dt><dd>${merchant}</dd></div>
<div><dt>Card</dt><dd><code>•••• ${last4}</code></dd></div>
</dl>
<form method="post" action="/3ds/acs/${acsTransID}">
<label class="ask" for="code">One-time code</label>
<input class="digits" id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="12" required autofocus aria-describedby="hint${isWrong && ' problem'}"${isWrong && html` aria-invalid="true"`}>
${isWrong && html`<p class="problem" id="problem" role="alert">${problem}</p>`}
<p class="hint" id="hint">In the sandbox the code is ${CODE}.</p>
<button class="yes">Confirm</button>
<button class="no" name="cancel" value="1" formnovalidate>Cancel</button>
</form>
</main>`,
  };
}

const RETURNS = {
  Y: { mark: 'good', title: 'Confirmed', lead: 'Thank you.' },
  N: { mark: 'bad', title: 'Not confirmed', lead: 'The bank has not confirmed that it is you who pays.' },
} as const;

/** Only what needs no escaping: the hash in the headers is that of the text as it stands here. */
const SEND = html`document.forms[0].submit()`;

function returnPage(authentication: Authentication, result: 'Y' | 'N'): Page {
  const { notificationURL, sessionData, merchant } = authentication;
  const { mark, title, lead } = RETURNS[result];
  return {
    title,
    scene: 'bank',
    script: SEND,
    body: html`<main class="card done">
${icon(mark, mark)}
<h1>${title}</h1>
<p class="lead">${lead} You are going back to ${merchant}.</p>
<form method="post" action="${notificationURL}">
<input type="hidden" name="cres" value="${cresOf(authentication)}">
${sessionData !== null && html`<input type="hidden" name="threeDSSessionData" value="${sessionData}">`}
<button class="yes">Continue</button>
</form>
</main>`,
  };
}

/** Asks the payer, or sends them back if it is decided. */
function sendNext(reply: FastifyReply, authentication: Authentication, problem?: string): FastifyReply {
  const { result } = authentication;
  if (result !== null) return sendPage(reply, returnPage(authentication, result));
  return sendPage(problem ? reply.code(400) : reply, challengePage(authentication, problem));
}

export function accessControl(app: FastifyInstance, simulator: Simulator): void {
  const { ledger } = simulator;

  app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode >= 500) throw error;
    return sendPage(reply.code(statusCode), messagePage('The bank cannot read this', error.message));
  });

  // Comes from the page of the gateway, so that it is the form of another site.
  app.post('/3ds/acs', async ({ body }, reply) => {
    const { acsTransID, threeDSServerTransID, sessionData } = readCreq(body);
    const found = challengedBy(simulator, acsTransID);
    if (found?.threeDSServerTransID !== threeDSServerTransID) return sendPage(reply.code(404), unknownTransaction());
    ledger.keepSessionData(acsTransID, sessionData);
    return sendNext(reply, ledger.authenticationByAcs(acsTransID) as Authentication);
  });

  app.post<{ Params: { acsTransID: string } }>(
    '/3ds/acs/:acsTransID',
    { onRequest: ownFormsOnly },
    async ({ params: { acsTransID }, body }, reply) => {
      const found = challengedBy(simulator, acsTransID);
      if (!found) return sendPage(reply.code(404), unknownTransaction());
      const { code, cancel } = isObject(body) ? body : {};
      const typed = String(code ?? '').replace(/\s/g, '');
      const isCancelled = cancel === '1';
      if (!isCancelled && typed === '') return sendNext(reply, found, 'Please enter the code.');
      await answerChallenge(simulator, acsTransID, isCancelled ? undefined : typed);
      const after = ledger.authenticationByAcs(acsTransID) as Authentication;
      const left = triesLeft(after);
      return sendNext(
        reply,
        after,
        `This code is not right. You have ${left === 1 ? 'one try' : `${left} tries`} left.`,
      );
    },
  );
}
