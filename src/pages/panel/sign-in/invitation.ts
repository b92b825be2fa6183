/** The routes of an invitation: an operator says its name and chooses how it signs in. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../../../core/context.ts';
import {
  acceptWithPasskey,
  acceptWithPassword,
  beginSetup,
  invitationPasskeyOptions,
  type OpenInvitation,
  openInvitation,
  openSetup,
  type Profile,
  type ProfileProblems,
  readProfile,
} from '../../../core/operators/invitations.ts';
import { signIn } from '../../../core/operators/sign-in.ts';
import { Secret } from '../../../lib/crypto/secret.ts';
import { requireOwnForm } from '../frame/cookie.ts';
import { panelTexts } from '../locales/index.ts';
import { type InvitationForm, invitationPage, noInvitationPage, recoveryPage, setupPage } from './invitation-pages.ts';
import type { SignInTools } from './tools.ts';

const { signIn: texts } = panelTexts;

interface InvitationRoute {
  Params: { secret: string };
}

const problemTexts = ({ email, name }: ProfileProblems): InvitationForm['errors'] => ({
  ...(email && {
    email: email === 'missing' ? texts.missing : email === 'inUse' ? texts.emailInUse : texts.emailInvalid,
  }),
  ...(name && { name: name === 'missing' ? texts.missing : texts.nameInvalid }),
});

const codePath = (secret: string): string => `/admin/invitation/${secret}/code`;

export function invitationRoutes(app: FastifyInstance, gateway: Gateway, tools: SignInTools): void {
  const { show, clientOf, begin, sendOptions, answersOf } = tools;

  const showNone = (reply: FastifyReply): FastifyReply => show(reply.code(404), noInvitationPage());

  interface Submission {
    secret: string;
    invitation: OpenInvitation;
    answer: (name: string) => string;
    /** Shows the first page again, with what was typed. */
    again(form: InvitationForm): FastifyReply;
  }

  /** Opens the invitation of a submitted form; undefined if the page that says so was sent. */
  const openSubmission = async (
    request: FastifyRequest<InvitationRoute>,
    reply: FastifyReply,
  ): Promise<Submission | undefined> => {
    requireOwnForm(gateway, request);
    const { secret } = request.params;
    const invitation = await openInvitation(gateway, secret);
    if (!invitation) {
      showNone(reply);
      return undefined;
    }
    const answer = answersOf(request);
    const again = (form: InvitationForm): FastifyReply => {
      const typed = { name: answer('name'), email: answer('email') };
      return show(reply.code(422), invitationPage(gateway, secret, invitation, { ...typed, ...form }));
    };
    return { secret, invitation, answer, again };
  };

  /** The profile of a form; undefined if the form was shown again. */
  const profileOf = ({ invitation, answer, again }: Submission): Profile | undefined => {
    const profile = readProfile(invitation, { name: answer('name'), email: answer('email') });
    if (!('problems' in profile)) return profile;
    again({ errors: problemTexts(profile.problems) ?? {} });
    return undefined;
  };

  app.get<InvitationRoute>('/admin/invitation/:secret', async (request, reply) => {
    const { secret } = request.params;
    const invitation = await openInvitation(gateway, secret);
    return invitation ? show(reply, invitationPage(gateway, secret, invitation, {})) : showNone(reply);
  });

  app.get<InvitationRoute>('/admin/invitation/:secret/code', async (request, reply) =>
    reply.redirect(`/admin/invitation/${encodeURIComponent(request.params.secret)}`, 303),
  );

  app.get<InvitationRoute>('/admin/invitation/:secret/passkey', async (request, reply) => {
    const { secret } = request.params;
    const invitation = await openInvitation(gateway, secret);
    return sendOptions(reply, invitation && (await invitationPasskeyOptions(gateway, secret, invitation)));
  });

  app.post<InvitationRoute>('/admin/invitation/:secret/passkey', async (request, reply) => {
    const submission = await openSubmission(request, reply);
    const profile = submission && profileOf(submission);
    if (!submission || !profile) return reply;
    const { secret, answer, again } = submission;
    const client = clientOf(request);
    const result = { state: answer('state'), credential: answer('credential') };
    const operator = await acceptWithPasskey(gateway, secret, profile, result, client);
    if (operator === 'refused' || operator === 'passkeyInUse') return again({ problem: texts.passkeyRefused });
    if (operator === 'emailInUse') return again({ errors: { email: texts.emailInUse } });
    if (operator === 'noInvitation') return showNone(reply);
    await begin(request, reply, await signIn(gateway, operator, 'invitation', client));
    return reply.redirect('/admin', 303);
  });

  app.post<InvitationRoute>('/admin/invitation/:secret', async (request, reply) => {
    const submission = await openSubmission(request, reply);
    const profile = submission && profileOf(submission);
    if (!submission || !profile) return reply;
    const { secret, answer, again } = submission;
    const begun = await beginSetup(gateway, secret, profile, new Secret(answer('password')));
    if (typeof begun === 'string') return again({ errors: { password: texts.passwordProblems[begun] } });
    return show(reply, setupPage(codePath(secret), begun.setup, begun.sealed));
  });

  app.post<InvitationRoute>('/admin/invitation/:secret/code', async (request, reply) => {
    const submission = await openSubmission(request, reply);
    if (!submission) return reply;
    const { secret, invitation, answer, again } = submission;
    const setup = openSetup(gateway, secret, answer('setup'));
    if (!setup) return again({ problem: texts.setupExpired });
    const client = clientOf(request);
    const accepted = await acceptWithPassword(gateway, secret, invitation, setup, answer('code'), client);
    if (accepted === 'wrongCode') {
      return show(reply.code(422), setupPage(codePath(secret), setup, answer('setup'), texts.setupWrong));
    }
    if (accepted === 'emailInUse') return again({ ...setup, errors: { email: texts.emailInUse } });
    if (typeof accepted === 'string') return showNone(reply);
    await begin(request, reply, await signIn(gateway, accepted.operator, 'invitation', client));
    return show(reply, recoveryPage(accepted.recoveryCodes));
  });
}
