/** What the routes of signing in and of invitations share. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../../../core/context.ts';
import type { Client } from '../../../core/operators/attempts.ts';
import type { PasskeyOptions } from '../../../core/operators/passkeys.ts';
import { endSession } from '../../../core/operators/sessions.ts';
import type { SignedIn } from '../../../core/operators/sign-in.ts';
import type { Form } from '../../../lib/text/form.ts';
import { browserCookie, sessionCookie, setCookies } from '../frame/cookie.ts';
import { type PanelPage, panelDocument, panelHeaders, sendJson } from '../frame/layout.ts';

export interface SignInTools {
  show(reply: FastifyReply, page: PanelPage): FastifyReply;
  clientOf(request: FastifyRequest): Client;
  /** Ends the session of an earlier sign-in in the same browser, and sets the cookies of the new one. */
  begin(request: FastifyRequest, reply: FastifyReply, signedIn: SignedIn): Promise<void>;
  /** Sends passkey options as JSON. */
  sendOptions(reply: FastifyReply, options: PasskeyOptions | undefined): FastifyReply;
  /** The values of a submitted form; a missing one is empty. */
  answersOf(request: FastifyRequest): (name: string) => string;
}

export const createTools = (gateway: Gateway, addressOf: (request: FastifyRequest) => string): SignInTools => ({
  show: (reply, page) => reply.headers(panelHeaders(gateway)).send(panelDocument(gateway, page)),
  clientOf: (request) => ({
    address: addressOf(request),
    userAgent: request.headers['user-agent'] ?? '',
    browser: browserCookie(request),
  }),
  async begin(request, reply, signedIn) {
    const earlier = sessionCookie(request);
    if (earlier !== undefined) await endSession(gateway, earlier);
    setCookies(reply, signedIn);
  },
  sendOptions: (reply, options) => sendJson(reply.code(options ? 200 : 404), gateway, options ?? {}),
  answersOf({ body }) {
    const values = (body as Form | undefined)?.values;
    return (name) => values?.get(name) ?? '';
  },
});
