/** The server of the sandbox's pretend wallet: validates merchants, and seals the tokens that its sheet asks for. */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Account, Gateway } from '../../core/context.ts';
import { openForPayer } from '../../core/payments/payer.ts';
import { pretendValidationUrl } from '../../core/wallets/merchant-session.ts';
import { usesPretendWallet } from '../../core/wallets/page.ts';
import { sealPretendToken } from '../../core/wallets/pretend-wallet.ts';
import type { Form } from '../../lib/text/form.ts';
import { PRETEND_CARDS } from '../../rules/pretend-wallet.ts';
import { readForm } from '../form-body.ts';
import { sendJson } from './json.ts';
import type { PretendSheet } from './view.ts';

export const pretendSheet = (gateway: Gateway, account: Account): PretendSheet | undefined =>
  usesPretendWallet(gateway, account)
    ? {
        cards: Object.entries(PRETEND_CARDS).map(([id, { name, wallets, kind }]) => ({ id, name, wallets, kind })),
        validationUrl: pretendValidationUrl(gateway),
      }
    : undefined;

/** Registered in the sandbox only. */
export function pretendWalletRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', readForm);
  const answer = (reply: FastifyReply, body: object | undefined): FastifyReply =>
    sendJson(reply.code(body ? 200 : 422), gateway, body ?? {});

  app.post<{ Params: { link: string } }>('/wallets/:link', async (request, reply) => {
    request.action = 'sandbox';
    const view = await openForPayer(gateway, request.params.link);
    const values = (request.body as Form | undefined)?.values ?? new Map<string, string>();
    const wallet = view?.wallets.find(({ label }) => label === values.get('wallet'))?.label;
    if (!view || !wallet || !usesPretendWallet(gateway, view.account)) return answer(reply, undefined);
    const [card = '', amount = '', currency = ''] = ['card', 'amount', 'currency'].map((name) => values.get(name));
    return answer(reply, await sealPretendToken(gateway, view.account, { wallet, card, amount, currency }));
  });

  // Called by the gateway itself. The vendor would check the certificate of the caller and sign the session.
  app.post('/wallets/session', async (request, reply) => {
    request.action = 'sandbox';
    const now = gateway.clock.real();
    return answer(reply, {
      epochTimestamp: now,
      expiresAt: now + 5 * 60_000,
      merchantSessionIdentifier: randomBytes(16).toString('hex'),
      nonce: randomBytes(4).toString('hex'),
      signature: '',
    });
  });
}
