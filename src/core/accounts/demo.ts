/** The demo shop of the sandbox, and test payments: of the demo shop, and of any account from the panel. */
import { newId } from '../../lib/crypto/id.ts';
import { EXAMPLES } from '../../rules/brand-examples.ts';
import { BRANDS, type Brand, isCommon, isForPayers, NO_BRAND_YET, nameInside } from '../../rules/brands.ts';
import type { Field } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { OrderLines } from '../../rules/order-lines.ts';
import type { Settings } from '../../rules/settings.ts';
import type { Account, Gateway } from '../context.ts';
import { commandCaller } from '../operators/principal.ts';
import { linkOf } from '../payments/links.ts';
import { openPayment } from '../payments/open.ts';
import { pretendWalletSettings } from '../wallets/pretend-wallet.ts';
import { changeAccount, createAccount, findAccount, forgetAccounts } from './accounts.ts';

const DEMO = 'demo_account';

/** The path of the logo of the demo shop, which the gateway serves itself. */
export const DEMO_LOGO = '/sandbox/demo-logo.svg';
const LOGO = 'branding.logo';

/** The page of the demo shop; `/post` accepts every brand. */
const DEMO_SETTINGS: Partial<Settings> = {
  'branding.name': 'Green Leaf Tea',
  'branding.colour': '#1a7f5a',
  page_methods: ['card', 'wallet-a', 'wallet-b', 'open-banking-a', 'bank-a', 'ips', 'bnpl-b', 'pin-a'],
};

/**
 * The account of the sandbox's quick start; created on first use. Its id is stored before the account is created: of
 * several processes or requests that create it at once, one succeeds, and after a crash the next use creates it.
 */
export async function demoAccount(gateway: Gateway, publicUrl = gateway.publicUrl): Promise<Account> {
  const { installation } = gateway;
  const mid = (
    (await installation.read(DEMO)) ?? (await installation.writeOnce(DEMO, Buffer.from(newId())))
  ).toString();
  const known = await findAccount(gateway, mid);
  if (known) return known;
  const settings = { ...pretendWalletSettings(gateway.clock.real()), ...DEMO_SETTINGS, [LOGO]: publicUrl + DEMO_LOGO };
  try {
    return (await createAccount(gateway, commandCaller('serve'), 'Demo Shop', settings, { mid })).account;
  } catch (error) {
    forgetAccounts(gateway, mid);
    const made = await findAccount(gateway, mid);
    if (made) return made;
    throw error;
  }
}

/** The demo account at the start of a sandbox; its logo moves with the address of the gateway. */
export async function startDemo(gateway: Gateway, publicUrl: string): Promise<Account> {
  const account = await demoAccount(gateway, publicUrl);
  const settings = { [LOGO]: publicUrl + DEMO_LOGO };
  const isMoved = account.settings[LOGO].endsWith(DEMO_LOGO) && account.settings[LOGO] !== settings[LOGO];
  return (isMoved && (await changeAccount(gateway, commandCaller('serve'), account.mid, { settings }))) || account;
}

/** Opens a Checkout session of the demo account and returns the address of its payment page. */
export async function openDemoPayment(gateway: Gateway): Promise<string> {
  const start = `${gateway.publicUrl}/`;
  const account = await demoAccount(gateway);
  return gateway.publicUrl + (await openTestPayment(gateway, account, (id) => `${start}?paid=${id}`, start));
}

const isSentByMerchant = ({ fields }: Brand, name: string, isSecret: boolean): boolean =>
  fields.some(
    (field: Field) =>
      field.by === 'merchant' &&
      !isCommon(field.name) &&
      (field.isSecret ?? false) === isSecret &&
      (field.name === name || (field.items !== undefined && name.startsWith(`${field.name}[`))),
  );

/** Sample values of the fields that only merchants know, by brand, so that a test order offers every method. */
const sampleParameters = (isSecret: boolean): Record<string, Record<string, string>> =>
  Object.fromEntries(
    Object.entries(BRANDS)
      .filter(([, brand]) => isForPayers(brand))
      .map(([label, brand]) => [
        label,
        Object.fromEntries(
          Object.entries(EXAMPLES[label]?.fields ?? {})
            .filter(([name]) => isSentByMerchant(brand, name, isSecret))
            .map(([name, value]) => [nameInside(name), value]),
        ),
      ])
      .filter(([, values]) => Object.keys(values as object).length > 0),
  );

/** The parameters of a test order, as a session stores them. */
export const SAMPLE_PARAMETERS = { open: sampleParameters(false), secret: sampleParameters(true) } as const;

/** What a test order consists of; its amounts add up to that of the order. */
const SAMPLE_LINES: OrderLines = {
  items: [
    { name: 'Pot of green tea', quantity: 1, amount: '1199' },
    { name: 'Tea cup', quantity: 2, unitAmount: '250', amount: '500' },
  ],
  shipping: '300',
};

/** Opens a Checkout session of an account and returns the path of its payment page. */
export async function openTestPayment(
  gateway: Gateway,
  account: Account,
  successUrl: (paymentId: string) => string,
  cancelUrl?: string,
): Promise<string> {
  const paymentId = newId();
  const until = gateway.clock.now(account.mid) + LIMITS.sessionMinutes * LIMITS.minuteMs;
  const orderId = `demo-${paymentId.slice(-12)}`;
  await openPayment(gateway, account, {
    protocol: 'checkout',
    brand: NO_BRAND_YET,
    paymentId,
    orderId,
    amountText: '19.99',
    currency: 'EUR',
    isAuthorisation: false,
    isRecurringInit: false,
    payerUntil: until,
    details: {
      description: 'A pot of green tea and two cups',
      lines: SAMPLE_LINES,
      payer: {},
      session: {
        id: paymentId,
        until,
        payer: {},
        successUrl: successUrl(paymentId),
        cancelUrl: cancelUrl ?? successUrl(paymentId),
        methods: [],
        parameters: SAMPLE_PARAMETERS.open,
      },
    },
    secrets: SAMPLE_PARAMETERS.secret,
    content: orderId,
  });
  return `/pay/${linkOf(gateway, paymentId)}`;
}
