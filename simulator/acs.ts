/** The access control server (ACS) of the simulated card issuer: the challenge and return pages, in a frame or not. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { html } from '../src/lib/text/html.ts';
import { isObject } from '../src/lib/text/json.ts';
import type { Authentication } from './card-ledger.ts';
import { answerChallenge, attemptsLeft, CODE, encodeCres, findChallenge } from './challenge.ts';
import { readCreq } from './creq.ts';
import { formatAmount } from './money.ts';
import { icon, messagePage, type Page, refuseCrossSiteForms, sendPage } from './page.ts';
import type { Simulator } from './payments.ts';

const TITLE = 'Confirm your payment';

const unknownTransaction = (): Page =>
  messagePage(
    'Unknown payment',
    'There is no challenge with this acsTransID and threeDSServerTransID. Please go back to the shop and start again.',
  );

function challengePage(authentication: Authentication, problem = ''): Page {
  const { acsTransID, merchant, amount, currency, last4 } = authentication;
  const amountText = formatAmount(amount, currency);
  const hasProblem = problem !== '';
  return {
    title: hasProblem ? `Problem: ${TITLE}` : TITLE,
    pageType: 'bank',
    isFramed: true,
    body: html`<main class="card">
<p class="who">${icon('bank')} Simulated bank <span class="brand">3-D Secure</span></p>
<h1>${TITLE}</h1>
<p class="amount ${amountText.length > 14 && 'wide'}">${amountText}</p>
<p class="lead">Please enter the code that we have sent to your phone.</p>
<dl class="facts">
<div><dt>Shop</dt><dd>${merchant}</dd></div>
<div><dt>Card</dt><dd><code>•••• ${last4}</code></dd></div>
</dl>
<form method="post" action="/3ds/acs/${acsTransID}">
<label class="ask" for="code">One-time code</label>
<input class="digits" id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="12" required aria-describedby="hint${hasProblem && ' problem'}"${hasProblem && html` aria-invalid="true"`}>
${hasProblem && html`<p class="problem" id="problem" role="alert">${problem}</p>`}
<p class="hint" id="hint">In the sandbox the code is ${CODE}.</p>
<button class="yes">Confirm</button>
<button class="no" name="cancel" value="1" formnovalidate>Cancel</button>
</form>
</main>`,
  };
}

const RESULT_TEXTS = {
  Y: { status: 'good', title: 'Confirmed', lead: 'Thank you.' },
  N: { status: 'bad', title: 'Not confirmed', lead: 'The bank could not confirm your identity.' },
} as const;

/** Must not need HTML escaping, because the content security policy contains the hash of this text. */
const SUBMIT_SCRIPT = html`document.forms[0].submit()`;

function returnPage(authentication: Authentication, result: 'Y' | 'N'): Page {
  const { notificationURL, sessionData, merchant } = authentication;
  const { status, title, lead } = RESULT_TEXTS[result];
  return {
    title,
    pageType: 'bank',
    isFramed: true,
    script: SUBMIT_SCRIPT,
    body: html`<main class="card done">
${icon(status, status)}
<h1>${title}</h1>
<p class="lead">${lead} You are going back to ${merchant}.</p>
<form method="post" action="${notificationURL}">
<input type="hidden" name="cres" value="${encodeCres(authentication)}">
${sessionData !== null && html`<input type="hidden" name="threeDSSessionData" value="${sessionData}">`}
<button class="yes">Continue</button>
</form>
</main>`,
  };
}

/** Sends the challenge page, or the return page once there is a result. */
function sendCurrentPage(reply: FastifyReply, authentication: Authentication, problem?: string): FastifyReply {
  const { result } = authentication;
  if (result !== null) return sendPage(reply, returnPage(authentication, result));
  return sendPage(problem ? reply.code(400) : reply, challengePage(authentication, problem));
}

export function acsRoutes(app: FastifyInstance, simulator: Simulator): void {
  const { ledger } = simulator;

  app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode >= 500) throw error;
    return sendPage(reply.code(statusCode), messagePage('Invalid request', error.message));
  });

  // The form comes from the payment page of the gateway, so it is a cross-site request.
  app.post('/3ds/acs', async ({ body }, reply) => {
    const { acsTransID, threeDSServerTransID, sessionData } = readCreq(body);
    const found = findChallenge(simulator, acsTransID);
    if (found?.threeDSServerTransID !== threeDSServerTransID) return sendPage(reply.code(404), unknownTransaction());
    ledger.setSessionData(acsTransID, sessionData);
    return sendCurrentPage(reply, ledger.authenticationByAcs(acsTransID) as Authentication);
  });

  app.post<{ Params: { acsTransID: string } }>(
    '/3ds/acs/:acsTransID',
    { onRequest: refuseCrossSiteForms },
    async ({ params: { acsTransID }, body }, reply) => {
      const found = findChallenge(simulator, acsTransID);
      if (!found) return sendPage(reply.code(404), unknownTransaction());
      const { code, cancel } = isObject(body) ? body : {};
      const enteredCode = String(code ?? '').replace(/\s/g, '');
      const isCancelled = cancel === '1';
      if (!isCancelled && enteredCode === '') return sendCurrentPage(reply, found, 'Please enter the code.');
      await answerChallenge(simulator, acsTransID, isCancelled ? undefined : enteredCode);
      const after = ledger.authenticationByAcs(acsTransID) as Authentication;
      const left = attemptsLeft(after);
      return sendCurrentPage(
        reply,
        after,
        `This code is wrong. You have ${left === 1 ? 'one attempt' : `${left} attempts`} left.`,
      );
    },
  );
}
