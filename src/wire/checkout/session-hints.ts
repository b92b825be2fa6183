/** What a session tells the developer about methods that do not fit its order, and about misspelt names. */
import type { Account, Gateway, PaymentWithDetails } from '../../core/context.ts';
import { methodsFor, parameterProblems } from '../../core/payments/choose.ts';
import type { CheckoutBody } from '../../core/requests/checkout-body.ts';
import { didYouMean, misspellings } from '../../core/requests/misspelt.ts';
import { walletsFor } from '../../core/wallets/page.ts';
import { hasCardNumber } from '../../lib/cards/search.ts';
import { printableName } from '../../lib/text/form.ts';
import { mostSimilar } from '../../lib/text/similar.ts';
import { BRANDS, type Brand, brandLabel, CARD, nameInside } from '../../rules/brands.ts';
import { docsOfBrand, docsOfPath } from '../../rules/docs.ts';
import { Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { CHECKOUT_OPERATIONS } from '../../rules/operations.ts';
import { requiresLines } from '../../rules/order-lines.ts';
import { unusedFieldWarnings, type Warning } from '../unused-fields.ts';

/** The labels of the methods that a session may name for this order. */
function offeredFor(gateway: Gateway, payment: PaymentWithDetails, owner: Account): string[] {
  const { session } = payment.details;
  const account = { ...owner, settings: { ...owner.settings, page_methods: [] } };
  const unrestricted = session
    ? { ...payment, details: { ...payment.details, session: { ...session, methods: [] } } }
    : payment;
  return [...methodsFor(gateway, unrestricted, account), ...walletsFor(gateway, unrestricted, account)].map(
    ({ label }) => label,
  );
}

const labelOf = (name: string, { settings }: Account): string | undefined =>
  name === CARD ? CARD : brandLabel(name, { ...settings, brands: [] }, () => true);

/** Why a method of the session is not offered. */
function hintOf(
  name: string,
  { currency, details }: PaymentWithDetails,
  account: Account,
  offered: readonly string[],
): string {
  const isShowable = printableName(name) === name && !hasCardNumber(name);
  const shown = isShowable ? name : 'One of the methods';
  const label = labelOf(name, account);
  if (label === undefined) {
    const meant = mostSimilar(name, [...offered, ...Object.keys(account.settings.brand_aliases)]);
    return `${shown} is not a method of this gateway.${meant === undefined ? '' : ` Did you mean ${meant}?`}`;
  }
  const row = BRANDS[label];
  const currencies = row?.fields.find((field) => field.name === 'order_currency')?.schema.enum as string[] | undefined;
  if (currencies && !currencies.includes(currency)) {
    return `${shown} takes ${currencies.join(', ')}, and the order is in ${currency}.`;
  }
  if (row && requiresLines(row.fields) && !details.lines) return `${shown} needs order.lines.`;
  return `${shown} is not offered for this order${row?.countries ? `; it is for payers from ${row.countries.join(', ')}` : ''}.`;
}

function hintsOf(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
): { offered: string[]; hints: string[] } {
  const methods = payment.details.session?.methods ?? [];
  if (methods.length === 0) return { offered: [], hints: [] };
  const offered = offeredFor(gateway, payment, account);
  const dropped = methods.filter((name) => !offered.includes(labelOf(name, account) ?? ''));
  return { offered, hints: [...new Set(dropped)].map((name) => hintOf(name, payment, account, offered)) };
}

/** The refusal of a session none of whose methods fits its order. */
export function noMethodFits(gateway: Gateway, payment: PaymentWithDetails, account: Account): Refusal {
  const { offered, hints } = hintsOf(gateway, payment, account);
  const problem = {
    field: 'methods',
    sentence: SENTENCES.noMethod,
    expected:
      offered.length === 0
        ? `A list of methods; the account offers none for an order in ${payment.currency}.`
        : `A list with some of ${offered.join(', ')}, which the account offers for an order in ${payment.currency}.`,
    hint: hints.join(' '),
  };
  return new Refusal('invalidData', [problem, ...parameterProblems(gateway, payment, account)]);
}

/** Parameters of a brand, as the merchant sent them. */
export interface SentParameters {
  name: string;
  label: string;
  names: readonly string[];
}

/** The well-known fields of a session that the gateway does not act upon. */
export const unusedInSession = (gateway: Gateway, { settings }: Account, { at }: CheckoutBody): Warning[] =>
  unusedFieldWarnings(
    gateway,
    (name) => (at(name) ?? '') !== '' && !(name === 'callback_url' && settings['dialect.session_callback_url']),
  );

/** What the sandbox reports about a session that it accepts: names that are ignored, and methods that are not offered. */
export function sessionWarnings(
  gateway: Gateway,
  account: Account,
  body: CheckoutBody,
  payment: PaymentWithDetails,
  parameters: readonly SentParameters[],
): Warning[] {
  const warning = (param: string, hint: string, section = docsOfPath('session')): Warning => ({
    param,
    hint,
    link: gateway.publicUrl + section,
  });
  const known = { operation: CHECKOUT_OPERATIONS.session, common: ['merchant_key'] };
  return [
    ...misspellings(body, known).map((found) => warning(found.sent, didYouMean(found))),
    ...unusedInSession(gateway, account, body),
    ...hintsOf(gateway, payment, account).hints.map((hint) => warning('methods', hint)),
    ...parameters.flatMap(({ name, label, names }) => {
      const fields = (BRANDS[label] as Brand).fields.map((field) => nameInside(field.name));
      const missing = fields.filter((field) => !names.includes(field));
      return names.flatMap((sent) => {
        const meant = fields.includes(sent) ? undefined : mostSimilar(sent, missing);
        const path = `parameters.${name}.${sent}`;
        if (meant === undefined || printableName(path) !== path) return [];
        return [warning(path, didYouMean({ sent: path, meant: `parameters.${name}.${meant}` }), docsOfBrand(label))];
      });
    }),
  ];
}
