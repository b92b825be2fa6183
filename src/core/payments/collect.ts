/** What our own page asks from the payer: which fields, whether the answers will do, and what follows. */
import { BRANDS, type Brand, brandValues, fieldsToAsk, offeredMethods } from '../../rules/brands.ts';
import type { Problem } from '../../rules/errors.ts';
import { checkFields, type Field, type FieldContext, SENTENCES } from '../../rules/fields.ts';
import { settingsReader } from '../../rules/settings.ts';
import { isOpen } from '../../rules/states.ts';
import type { Payment, WholePayment } from '../../store/payments.ts';
import { findAccount } from '../accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { abandon, isOutOfTime, noteCollected } from './advance.ts';
import { findByLink } from './links.ts';
import { inquireNow, sealSecrets, secretsOf, submit } from './provider.ts';

/** A payment as its payer meets it. */
export interface PayerView {
  payment: WholePayment;
  account: Account;
  /** What the payer is asked for; empty when nothing is missing. */
  fields: readonly Field[];
}

/** The payment of a link as it is now: one whose time is over has ended. */
export async function openForPayer(gateway: Gateway, link: string): Promise<PayerView | undefined> {
  const found = await findByLink(gateway, link);
  const account = found && (await findAccount(gateway, found.mid));
  if (!found || !account) return undefined;
  const payment = isOutOfTime(gateway, found) ? { ...found, ...(await abandon(gateway, found)) } : found;
  const isAsking = payment.state === 'REDIRECT' && payment.nextStep?.kind === 'fields';
  const fields = isAsking ? fieldsToAsk(brandOf(payment), contextOf(gateway, payment, account)) : [];
  return { payment, account, fields };
}

/** The payment of a link when the payer comes back: the provider is asked what became of it. */
export async function returnOfPayer(gateway: Gateway, link: string): Promise<PayerView | undefined> {
  const view = await openForPayer(gateway, link);
  if (!view || !isOpen(view.payment.state)) return view;
  const payment = await inquireNow(gateway, view.payment, view.account);
  return { ...view, payment: { ...view.payment, ...payment } };
}

/** Takes what the payer filled in, and submits the payment; or says what is wrong and changes nothing. */
export async function collect(
  gateway: Gateway,
  { payment, account, fields }: PayerView,
  answers: ReadonlyMap<string, string>,
): Promise<{ problems: Problem[] } | { payment: Payment }> {
  const asked = new Map(fields.map(({ name }) => [name, answers.get(name)?.trim() ?? '']));
  const context = contextOf(gateway, payment, account, asked);
  const problems: Problem[] = fields
    .filter(({ name }) => asked.get(name)?.includes('\0'))
    .map(({ name }) => ({ field: name, sentence: SENTENCES.invalid }));
  checkFields(
    fields.map((field) => ({ ...field, need: 'must' })),
    context,
    problems,
  );
  if (problems.length > 0) return { problems };
  const brand = brandOf(payment);
  const { parameters, secrets } = brandValues(brand, context);
  const methods = offeredMethods(brand, context);
  const allSecrets = { ...secretsOf(gateway, payment), ...secrets };
  const { sealed: _sealed, ...rest } = payment.details;
  const collected = await noteCollected(gateway, payment, {
    ...rest,
    parameters: { ...payment.details.parameters, ...parameters },
    ...(methods.length > 0 && { methods }),
    ...(Object.keys(allSecrets).length > 0 && { sealed: sealSecrets(gateway, payment.paymentId, allSecrets) }),
  });
  // Whoever pressed the button twice gets what the first press came to.
  if (!collected) return { payment: (await gateway.payments.find(payment)) ?? payment };
  return { payment: await submit(gateway, collected, account) };
}

function brandOf({ brand }: Payment): Brand {
  const row = BRANDS[brand];
  if (!row) throw new Error(`There is no brand ${brand}.`);
  return row;
}

const NONE: ReadonlyMap<string, string> = new Map();

/** The fields of a payment under the names of its request: what was sent, and what the payer adds. */
function contextOf(
  gateway: Gateway,
  { details }: WholePayment,
  { settings }: Account,
  answers: ReadonlyMap<string, string> = NONE,
): FieldContext {
  const sent = (name: string): string => {
    if (name.startsWith('payer_')) return details.payer[name.slice('payer_'.length)] ?? '';
    const [, inside] = /^parameters\[(.+)\]$/.exec(name) ?? [];
    const value = details.parameters?.[inside ?? name];
    return typeof value === 'string' ? value : '';
  };
  return {
    value: (name) => answers.get(name) || sent(name),
    positions: () => [],
    setting: settingsReader(settings),
    allowsHttp: gateway.environment === 'sandbox',
  };
}
