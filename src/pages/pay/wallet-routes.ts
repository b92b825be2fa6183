/** The requests of the script of device wallets: the token that pays, and the validation of the merchant. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Account, Gateway, PaymentWithDetails } from '../../core/context.ts';
import { payable } from '../../core/links/claims.ts';
import type { BrowserData } from '../../core/payments/authenticate.ts';
import { type PayerView, withoutSpentCards } from '../../core/payments/payer.ts';
import { receiptDetails } from '../../core/receipts/receipts.ts';
import { chooseWallet } from '../../core/wallets/choose.ts';
import { openMerchantSession } from '../../core/wallets/merchant-session.ts';
import type { Form } from '../../lib/text/form.ts';
import { isCrossSite } from '../cross-site.ts';
import type { Locale } from '../locale.ts';
import { sendJson } from './json.ts';
import { cardRefusalText } from './limits.ts';
import type { LinkRoute } from './view.ts';

type WalletRequest = FastifyRequest<LinkRoute>;

/** What the routes share with those of the forms. */
export interface WalletRouteTools {
  openLink(request: WalletRequest): Promise<PayerView | undefined>;
  isTooFast(link: string): boolean;
  browserOf(request: WalletRequest): BrowserData;
  localeOf(request: WalletRequest, account?: Account): Locale;
  addressAfterSubmit(request: WalletRequest, payerView: PayerView, payment: PaymentWithDetails): string;
}

export function walletRoutes(app: FastifyInstance, gateway: Gateway, tools: WalletRouteTools): void {
  const answer = (reply: FastifyReply, status: number, body: object): FastifyReply =>
    sendJson(reply.code(status), gateway, body);

  /** Registers a route with the same protection as the form of the page. */
  const route = (
    path: string,
    handle: (request: WalletRequest, reply: FastifyReply, payerView: PayerView) => Promise<FastifyReply>,
  ): void => {
    app.post<LinkRoute>(`/pay/:link/${path}`, async (request, reply) => {
      const { messages } = tools.localeOf(request);
      if (tools.isTooFast(request.params.link)) return answer(reply, 429, { message: messages.tooFastHow });
      // `Origin` is `null` under our referrer policy, and the link cannot be guessed.
      if (isCrossSite(request.headers, [new URL(gateway.publicUrl).origin, 'null'])) {
        return answer(reply, 403, { message: messages.foreignHow });
      }
      const payerView = await tools.openLink(request);
      return payerView ? handle(request, reply, payerView) : answer(reply, 404, { message: messages.unknownHow });
    });
  };
  const fieldOf = (request: WalletRequest, name: string): string =>
    (request.body as Form | undefined)?.values.get(name) ?? '';

  route('wallet', async (request, reply, payerView) => {
    const { payment, account, wallets } = payerView;
    const locale = tools.localeOf(request, account);
    const wallet = wallets.find(({ label }) => label === fieldOf(request, 'wallet'));
    // Paid meanwhile, for example in another tab: the page shows it.
    if (!wallet) return answer(reply, 200, { location: `/pay/${request.params.link}` });
    const token = fieldOf(request, 'token');
    const given = receiptDetails(gateway, account, { language: locale.tag });
    const browser = tools.browserOf(request);
    const outcome = await payable(() => chooseWallet(gateway, payment, account, wallet.label, token, browser, given));
    if (!outcome) return answer(reply, 200, { location: `/pay/${request.params.link}` });
    if (outcome === 'refusedToken') return answer(reply, 422, { message: locale.messages.walletFailed });
    if ('refusal' in outcome) return answer(reply, 429, { message: cardRefusalText(outcome.refusal, locale).text });
    return answer(reply, 200, {
      location: tools.addressAfterSubmit(request, payerView, outcome.payment),
      is_declined: outcome.payment.state === 'DECLINED',
    });
  });

  route('wallet-session', async (request, reply, payerView) => {
    const { account, wallets } = await withoutSpentCards(gateway, payerView);
    const wallet = wallets.find(({ label }) => label === 'wallet-a');
    const session = wallet && (await openMerchantSession(gateway, account, wallet, fieldOf(request, 'validation_url')));
    const { messages } = tools.localeOf(request, account);
    return session ? answer(reply, 200, { session }) : answer(reply, 422, { message: messages.walletFailed });
  });
}
