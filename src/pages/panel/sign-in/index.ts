/** The routes of signing in to the panel and out of it, and of confirming who the operator is. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../../../core/context.ts';
import { inviteFirstOwner } from '../../../core/operators/invitations.ts';
import { hasPasskeys, proofOptions } from '../../../core/operators/passkeys.ts';
import { auditEntry } from '../../../core/operators/principal.ts';
import { endSession, findSession } from '../../../core/operators/sessions.ts';
import {
  type ConfirmOutcome,
  checkPassword,
  confirmWithPasskey,
  confirmWithPassword,
  finishSignIn,
  isPending,
  methodsOf,
  type OpenSession,
  type SignInOutcome,
  signInWithPasskey,
} from '../../../core/operators/sign-in.ts';
import { Secret } from '../../../lib/crypto/secret.ts';
import { NotBegun } from '../../../lib/flow/limiter.ts';
import { isPrivateAddress } from '../../../lib/http/private-address.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { isClientError, withFailure } from '../../failure.ts';
import { readForm } from '../../form-body.ts';
import {
  browserCookie,
  clearSessionCookie,
  ForeignForm,
  panelPath,
  requireOwnForm,
  sessionCookie,
} from '../frame/cookie.ts';
import { panelHeaders } from '../frame/layout.ts';
import { inLanguage, panelTag, panelTexts } from '../locales/index.ts';
import { invitationRoutes } from './invitation.ts';
import {
  busyPage,
  codePage,
  codesLeftPage,
  confirmPage,
  failedPage,
  firstOwnerPage,
  foreignFormPage,
  type SignInForm,
  signInPage,
} from './pages.ts';
import { resetRoutes } from './reset.ts';
import { createTools } from './tools.ts';

const { signIn: texts } = panelTexts;

interface NextQuery {
  Querystring: { next?: string; signed_out?: string };
}

export function signInRoutes(
  app: FastifyInstance,
  gateway: Gateway,
  addressOf: (request: FastifyRequest) => string,
): void {
  const tools = createTools(gateway, addressOf);
  const { show, clientOf, begin, sendOptions, answersOf } = tools;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', readForm);
  app.addHook('onRequest', (request, reply, done) => {
    request.action = 'panel sign-in';
    reply.headers(panelHeaders(gateway));
    done();
  });
  // After the body was read, which would lose the language.
  app.addHook('preHandler', (request, _reply, done) => {
    inLanguage(panelTag(undefined, request.headers['accept-language']), done);
  });
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof ForeignForm) return show(reply.code(403), foreignFormPage());
    if (error instanceof NotBegun) {
      gateway.log.warn({ request_id: request.id }, 'sign-in refused: busy');
      return show(withFailure(reply, error), busyPage(otherWays(request)));
    }
    if (!isClientError(error)) gateway.log.error({ err: error, request_id: request.id }, 'sign-in page failed');
    return show(withFailure(reply, error), failedPage());
  });

  const openSession = async (request: FastifyRequest): Promise<OpenSession | undefined> => {
    const cookie = sessionCookie(request);
    const session = cookie === undefined ? undefined : await findSession(gateway, cookie);
    return session && cookie !== undefined ? { session, cookie } : undefined;
  };

  const showSignIn = (reply: FastifyReply, status: number, form: SignInForm): FastifyReply =>
    show(reply.code(status), signInPage(gateway, form));
  /** What works although passwords are refused, for the browser of this request. */
  const otherWays = (request: FastifyRequest): string =>
    [
      hasPasskeys(gateway) && texts.passkeyWorks,
      // Not said in a browser that may be the known one that is locked out.
      browserCookie(request) === '' && texts.knownBrowserWorks,
    ]
      .filter((sentence) => sentence !== false)
      .join(' ');
  const showLocked = (
    request: FastifyRequest,
    reply: FastifyReply,
    form: SignInForm,
    [windowMs, sentence]: readonly [number, string],
  ): FastifyReply =>
    showSignIn(reply.header('retry-after', windowMs / 1000), 429, {
      ...form,
      problem: `${sentence} ${otherWays(request)}`.trim(),
    });

  app.get<NextQuery>('/admin/sign-in', async (request, reply) => {
    const next = panelPath(request.query.next);
    if (await openSession(request)) return reply.redirect(next, 303);
    if (!(await gateway.operatorCredentials.isAnyoneActive())) return show(reply, firstOwnerPage(isNear(request)));
    const message = request.query.signed_out === undefined ? undefined : texts.signedOut;
    return showSignIn(reply, 200, { next, message });
  });

  /** Whether the request may create the first owner of a sandbox: it comes from this machine or its network. */
  const isNear = (request: FastifyRequest): boolean =>
    gateway.environment === 'sandbox' &&
    request.headers['x-forwarded-for'] === undefined &&
    isPrivateAddress(addressOf(request));

  app.post('/admin/first-owner', async (request, reply) => {
    requireOwnForm(gateway, request);
    const by = { kind: 'system', id: null, name: 'sign-in page', address: addressOf(request) } as const;
    const secret = isNear(request) ? await inviteFirstOwner(gateway, by) : undefined;
    // A form may lead to its own host only.
    return reply.redirect(secret ? `/admin/invitation/${secret.reveal()}` : '/admin/sign-in', 303);
  });

  app.post('/admin/sign-in', async (request, reply) => {
    requireOwnForm(gateway, request);
    const answer = answersOf(request);
    const form = { next: panelPath(answer('next')), email: answer('email') };
    const errors = {
      ...(form.email.trim() === '' && { email: texts.missing }),
      ...(answer('password') === '' && { password: texts.missing }),
    };
    if (Object.keys(errors).length > 0) return showSignIn(reply, 422, { ...form, errors });
    const outcome = await checkPassword(gateway, form.email, new Secret(answer('password')), clientOf(request));
    if (outcome === 'locked') {
      return showLocked(request, reply, form, [LIMITS.operatorFailureWindowMs, texts.locked]);
    }
    if (outcome === 'wrong') return showSignIn(reply, 422, { ...form, errors: { password: texts.wrong } });
    return show(reply, codePage(form.next, outcome.pending));
  });

  // Reloading the page of the code starts again: its form exists only as the answer to a right password.
  app.get('/admin/sign-in/code', async (_request, reply) => reply.redirect('/admin/sign-in', 303));

  const finish = async (
    request: FastifyRequest,
    reply: FastifyReply,
    outcome: Extract<SignInOutcome, object>,
    next: string,
  ): Promise<FastifyReply> => {
    await begin(request, reply, outcome);
    return outcome.codesLeft === undefined
      ? reply.redirect(next, 303)
      : show(reply, codesLeftPage(next, outcome.codesLeft));
  };

  app.post('/admin/sign-in/code', async (request, reply) => {
    requireOwnForm(gateway, request);
    const answer = answersOf(request);
    const next = panelPath(answer('next'));
    const pending = answer('pending');
    if (answer('code').trim() === '' && isPending(gateway, pending)) {
      return show(reply.code(422), codePage(next, pending, texts.missing));
    }
    const outcome = await finishSignIn(gateway, pending, answer('code'), clientOf(request));
    if (outcome === 'locked') {
      return showLocked(request, reply, { next }, [LIMITS.operatorCodeWindowMs, texts.codeLocked]);
    }
    if (outcome === 'expired') return showSignIn(reply, 422, { next, problem: texts.expired });
    if (outcome === 'wrong') return show(reply.code(422), codePage(next, pending, texts.codeWrong));
    return finish(request, reply, outcome, next);
  });

  app.get('/admin/sign-in/passkey', async (_request, reply) => sendOptions(reply, await proofOptions(gateway)));

  app.post('/admin/sign-in/passkey', async (request, reply) => {
    requireOwnForm(gateway, request);
    const answer = answersOf(request);
    const next = panelPath(answer('next'));
    const proof = { state: answer('state'), credential: answer('credential') };
    const outcome = await signInWithPasskey(gateway, proof, clientOf(request));
    if (outcome === 'wrong') return showSignIn(reply, 422, { next, problem: texts.passkeyWrong });
    return finish(request, reply, outcome, next);
  });

  app.post('/admin/sign-out', async (request, reply) => {
    const open = await openSession(request);
    requireOwnForm(gateway, request, open?.session);
    if (open) {
      const { operatorId: id, name } = open.session.operator;
      const by = { kind: 'operator', id, name, address: addressOf(request) } as const;
      await endSession(gateway, open.cookie);
      await gateway.audit.append(auditEntry(gateway, by, 'operators.sign_out', { subject: id }));
    }
    return clearSessionCookie(reply).redirect('/admin/sign-in?signed_out=1', 303);
  });

  const toSignIn = (reply: FastifyReply, next: string): FastifyReply =>
    reply.redirect(`/admin/sign-in?next=${encodeURIComponent(next)}`, 303);

  const showConfirm = async (
    reply: FastifyReply,
    { session }: OpenSession,
    next: string,
    messages: { problem?: string; error?: string } = {},
  ): Promise<FastifyReply> => {
    const { hasPassword, hasPasskey } = await methodsOf(gateway, session.operator);
    const ways = { hasPassword, hasPasskey: hasPasskey && hasPasskeys(gateway) };
    const tag = panelTag(session.operator.language, reply.request.headers['accept-language']);
    return inLanguage(tag, () => show(reply, confirmPage(gateway, session, { next, ...ways, ...messages })));
  };

  app.get<NextQuery>('/admin/confirm', async (request, reply) => {
    const next = panelPath(request.query.next);
    const open = await openSession(request);
    if (!open) return toSignIn(reply, next);
    return open.session.isConfirmed ? reply.redirect(next, 303) : showConfirm(reply, open, next);
  });

  const answerConfirm = (
    reply: FastifyReply,
    open: OpenSession,
    next: string,
    outcome: ConfirmOutcome,
    wrong: { problem?: string; error?: string },
  ): FastifyReply | Promise<FastifyReply> => {
    if (outcome === 'confirmed') return reply.redirect(next, 303);
    if (outcome === 'wrong') return showConfirm(reply.code(422), open, next, wrong);
    reply.code(429).header('retry-after', LIMITS.operatorFailureWindowMs / 1000);
    return showConfirm(reply, open, next, { problem: texts.confirmLocked });
  };

  app.post('/admin/confirm', async (request, reply) => {
    const answer = answersOf(request);
    const next = panelPath(answer('next'));
    const open = await openSession(request);
    requireOwnForm(gateway, request, open?.session);
    if (!open) return toSignIn(reply, next);
    const password = new Secret(answer('password'));
    const outcome = await confirmWithPassword(gateway, open, password, answer('code'), clientOf(request));
    return answerConfirm(reply, open, next, outcome, { error: texts.confirmWrong });
  });

  app.get('/admin/confirm/passkey', async (request, reply) => {
    const open = await openSession(request);
    return sendOptions(
      reply,
      open && (await proofOptions(gateway, open.session.digest, open.session.operator.operatorId)),
    );
  });

  app.post('/admin/confirm/passkey', async (request, reply) => {
    const answer = answersOf(request);
    const next = panelPath(answer('next'));
    const open = await openSession(request);
    requireOwnForm(gateway, request, open?.session);
    if (!open) return toSignIn(reply, next);
    const proof = { state: answer('state'), credential: answer('credential') };
    const outcome = await confirmWithPasskey(gateway, open, proof, clientOf(request));
    return answerConfirm(reply, open, next, outcome, { problem: texts.confirmPasskeyWrong });
  });

  invitationRoutes(app, gateway, tools);
  resetRoutes(app, gateway, tools);
}
