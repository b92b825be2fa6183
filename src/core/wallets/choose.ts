/** The payer pays with a device wallet on the payment page: opens its token, and submits the card in it. */
import { TokenRefused } from '../../lib/wallets/opened.ts';
import { type Brand, brandOf, TOKEN_FIELD, type WalletBrand } from '../../rules/brands.ts';
import { type Problem, Refusal } from '../../rules/errors.ts';
import { checkFields } from '../../rules/fields.ts';
import { payerTimeOf } from '../../rules/payer-minutes.ts';
import type { PaymentDetails, PaymentWithDetails } from '../../store/payments/payments.ts';
import { type CardRefusal, recordCardAttempt } from '../cards/card-attempts.ts';
import { chooseRoute, factsOf } from '../connections/route.ts';
import type { Account, Gateway } from '../context.ts';
import type { BrowserData } from '../payments/authenticate.ts';
import { attemptOf, fieldContextsOf, type GivenDetails } from '../payments/choose.ts';
import { recordPayerInput } from '../payments/record.ts';
import { screened } from '../risk/screen.ts';
import { numberIn, payByWallet, type WalletPayment } from './card.ts';
import { hasTokenKeys, openToken, pageRoutes, passToken } from './token.ts';

/** A token that is refused pays nothing; the payer can ask the wallet for another one. */
export type WalletOutcome = 'refusedToken' | { refusal: CardRefusal } | { payment: PaymentWithDetails };

/** Takes the payer's token with the same checks as a sale over `/post`, and counts it as a card attempt. */
export async function chooseWallet(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  brand: WalletBrand,
  token: string,
  browser: BrowserData,
  given: GivenDetails = {},
): Promise<WalletOutcome> {
  const { mid } = payment;
  const { fields } = brandOf(brand) as Brand;
  const refused = (rule: string): 'refusedToken' => {
    gateway.log.info({ mid, payment_id: payment.paymentId, brand, rule }, 'wallet token refused');
    return 'refusedToken';
  };
  const problems: Problem[] = [];
  checkFields(fields, fieldContextsOf(gateway, payment, account)(brand, new Map([[TOKEN_FIELD, token]])), problems);
  if (problems.length > 0) return refused('shape');
  const taken = await takeToken(gateway, payment, account, brand, token);
  if (typeof taken === 'string') return refused(taken);
  const { stored, wallet, payee } = taken;
  // The sheet of the wallet offers only these; the setting does not apply to sales over `/post`.
  const allowed = account.settings['wallets.wallet-b.allowed_auth_methods'];
  if (brand === 'wallet-b' && stored.wallet && !allowed.includes(stored.wallet.type)) return refused('authMethod');
  const isUsed = (): Promise<boolean> => gateway.walletTokens.isUsed(wallet.token.replayKey);
  // A used token must not open another attempt.
  if (payment.state === 'DECLINED' && (await isUsed())) return refused('replay');
  const refusal = await recordCardAttempt(gateway, account, payment, browser.ip);
  if (refusal) return { refusal };
  const attempt = await attemptOf(gateway, payment);
  const details = { ...attempt.details, ...given, ...stored };
  const number = numberIn(wallet);
  const facts = factsOf({ ...attempt, brand, details }, number);
  const route = chooseRoute(gateway, payee, facts, attempt.paymentId);
  const payerTimeMs = payerTimeOf(account.settings, brand);
  const collected = await recordPayerInput(gateway, attempt, details, { brand, payerTimeMs, ...route }, wallet.token);
  if (collected) {
    const paid = await screened(gateway, payee, collected, { number, ip: browser.ip }, (passed, threeDs) =>
      payByWallet(gateway, passed, payee, wallet, browser, threeDs),
    );
    return { payment: paid };
  }
  // A concurrent request was first, with this payment or with this token.
  const current = (await gateway.payments.find(attempt)) ?? attempt;
  return current.historyLength === attempt.historyLength ? refused('replay') : { payment: current };
}

interface TakenToken {
  stored: Pick<PaymentDetails, 'card' | 'wallet'>;
  wallet: WalletPayment;
  /** The account, with the routes that can use the token. */
  payee: Account;
}

/** Opens a token, or keeps it for a provider that does; returns the rule that it broke if it is refused. */
async function takeToken(
  gateway: Gateway,
  { amountText, currency, details }: PaymentWithDetails,
  account: Account,
  brand: WalletBrand,
  token: string,
): Promise<TakenToken | string> {
  if (!hasTokenKeys(account, brand)) {
    const payee = { ...account, routes: pageRoutes(account, brand) };
    return { stored: {}, wallet: passToken(gateway, brand, token), payee };
  }
  try {
    return { ...(await openToken(gateway, account, { brand, amountText, currency, details }, token)), payee: account };
  } catch (error) {
    if (error instanceof TokenRefused) return error.rule;
    if (error instanceof Refusal) return 'order';
    throw error;
  }
}
