/** The routes of a forgotten password: asking for a link by e-mail, and choosing a new password with it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../../../core/context.ts';
import { sendOperatorMail } from '../../../core/operators/mails.ts';
import { panelUrl } from '../../../core/operators/panel-address.ts';
import { isResetOpen, requestReset, resetPassword } from '../../../core/operators/password-reset.ts';
import { Secret } from '../../../lib/crypto/secret.ts';
import { html } from '../../../lib/text/html.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { requireOwnForm } from '../frame/cookie.ts';
import type { PanelPage } from '../frame/layout.ts';
import { inLanguage, panelTag, panelTexts } from '../locales/index.ts';
import { resetMail } from '../operators/mails.ts';
import { field, notice } from './fields.ts';
import type { SignInTools } from './tools.ts';

const { signIn: texts } = panelTexts;

export const FORGOTTEN_PATH = '/admin/forgotten';

interface ResetRoute {
  Params: { secret: string };
}

const requestPage = (error?: string): PanelPage => ({
  title: texts.forgottenTitle,
  body: html`<div class="head"><h1>${texts.forgottenTitle}</h1></div>
<div class="card"><p>${texts.forgottenIntro}</p>
<form method="post" action="${FORGOTTEN_PATH}">${field({ name: 'email', label: texts.email, type: 'email', autocomplete: 'username', error, isFocused: true })}
<div class="field"><button class="wide">${texts.forgottenSend}</button></div></form></div>
<p class="small"><a href="/admin/sign-in">${texts.toSignIn}</a></p>`,
});

const messagePage = (title: string, text: string): PanelPage => ({
  title,
  body: html`<div class="card"><h1>${title}</h1><p>${text}</p><div class="field"><a class="button wide" href="/admin/sign-in">${texts.toSignIn}</a></div></div>`,
});

const resetPage = (
  secret: string,
  { problem, errors = {} }: { problem?: string; errors?: { password?: string; code?: string } } = {},
): PanelPage => ({
  title: texts.resetTitle,
  body: html`<div class="head"><h1>${texts.resetTitle}</h1></div>${notice('bad', problem)}
<div class="card"><form method="post" action="${FORGOTTEN_PATH}/${secret}">
${field({ name: 'password', label: texts.newPassword, type: 'password', autocomplete: 'new-password', hint: texts.passwordHint, error: errors.password, isFocused: true })}
${field({ name: 'code', label: texts.code, autocomplete: 'one-time-code', hint: texts.codeHint, error: errors.code, maxlength: 40 })}
<div class="field"><button class="wide">${texts.resetButton}</button></div></form></div>`,
});

export function resetRoutes(app: FastifyInstance, gateway: Gateway, { show, clientOf, answersOf }: SignInTools): void {
  if (!gateway.mailer) return;

  app.get(FORGOTTEN_PATH, async (_request, reply) => show(reply, requestPage()));

  /** Not awaited: the time of an answer would tell whether there is such an operator. A lost e-mail is asked for again. */
  const mailLink = async (request: FastifyRequest, email: string): Promise<void> => {
    const found = await requestReset(gateway, email, clientOf(request));
    if (!found) return;
    const { operator, secret } = found;
    const { publicUrl } = gateway;
    const link = `${panelUrl(publicUrl)}${FORGOTTEN_PATH}/${secret}`;
    const tag = panelTag(operator.language, request.headers['accept-language']);
    const mail = inLanguage(tag, () => resetMail(operator.name, new URL(publicUrl).host, link));
    const outcome = await sendOperatorMail(gateway, operator.email, mail);
    if (outcome?.kind !== 'sent') {
      gateway.log.warn({ operator_id: operator.operatorId, reason: outcome?.reason }, 'password link not sent');
    }
  };

  app.post(FORGOTTEN_PATH, async (request, reply) => {
    requireOwnForm(gateway, request);
    const email = answersOf(request)('email').trim();
    if (email === '') return show(reply.code(422), requestPage(texts.missing));
    mailLink(request, email).catch((error) =>
      gateway.log.error({ err: error, request_id: request.id }, 'password link failed'),
    );
    return show(reply, messagePage(texts.forgottenTitle, texts.forgottenSent));
  });

  const showExpired = (reply: FastifyReply): FastifyReply =>
    show(reply.code(404), messagePage(texts.invalidTitle, texts.resetExpired));

  app.get<ResetRoute>(`${FORGOTTEN_PATH}/:secret`, async ({ params: { secret } }, reply) =>
    (await isResetOpen(gateway, secret)) ? show(reply, resetPage(secret)) : showExpired(reply),
  );

  app.post<ResetRoute>(`${FORGOTTEN_PATH}/:secret`, async (request, reply) => {
    requireOwnForm(gateway, request);
    const { secret } = request.params;
    const answer = answersOf(request);
    const outcome = await resetPassword(
      gateway,
      secret,
      new Secret(answer('password')),
      answer('code'),
      clientOf(request),
    );
    if (outcome === 'expired') return showExpired(reply);
    if (outcome === 'done') return show(reply, messagePage(texts.resetTitle, texts.resetDone));
    if (outcome === 'locked') {
      reply.code(429).header('retry-after', LIMITS.operatorCodeWindowMs / 1000);
      return show(reply, resetPage(secret, { problem: texts.codeLocked }));
    }
    const errors =
      outcome === 'wrongCode' ? { code: texts.codeWrong } : { password: texts.passwordProblems[outcome.problem] };
    return show(reply.code(422), resetPage(secret, { errors }));
  });
}
