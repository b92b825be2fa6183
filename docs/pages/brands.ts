/** Generates docs/brands.md: the description, fields and a working request of every brand. */

import { BRANDS as SANDBOX } from '../../simulator/brands.ts';
import { localeFor } from '../../src/pages/locale.ts';
import { methodNames } from '../../src/pages/pay/method-names.ts';
import { EXAMPLES, IDENTIFICATIONS } from '../../src/rules/brand-examples.ts';
import { BRANDS, type Brand } from '../../src/rules/brands.ts';
import type { Field } from '../../src/rules/fields.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { requiresLines } from '../../src/rules/order-lines.ts';
import { completeSettings, SETTINGS, type SettingName } from '../../src/rules/settings.ts';
import { expectsOf, needOf, withMembers } from '../../src/wire/openapi/descriptions.ts';
import { code, duration, page, table } from './markdown.ts';

/** The names of the brands on a page that shows all of them. */
const nameOf = methodNames(Object.keys(BRANDS), { settings: completeSettings({}) }, localeFor('en', undefined));

/** The test brand has no simulated provider: the gateway itself answers. */
const sandboxOf = (label: string): string =>
  SANDBOX[label]?.sandbox ?? 'Answers at once: the identifier selects the outcome.';

function currenciesOf({ fields }: Brand): string {
  const choices = fields.find(({ name }) => name === 'order_currency')?.schema.enum as string[] | undefined;
  return choices?.join(', ') ?? 'any';
}

function payerTimeOf({ isImmediate, isPayout, payerTimeMs, codeTimeMs, pendingMs }: Brand): string {
  if (isImmediate) return 'no payer involved';
  if (payerTimeMs !== undefined) return duration(payerTimeMs);
  const end = pendingMs === undefined ? '' : `; ${duration(pendingMs)} while pending`;
  if (isPayout) return `no payer involved${end}`;
  if (codeTimeMs !== undefined) return `the code is shown for ${duration(codeTimeMs)}${end}`;
  return `${duration(LIMITS.payerMs)} after a redirect${end}`;
}

/** Who can supply a field: the payer only on the payment page. */
function supplierOf({ isPayout, needsToken }: Brand, { by, need, isSetting, name }: Field): string {
  if (isSetting) return 'operator';
  const isMerchants = by === 'merchant' || need === 'may' || name.startsWith('order_') || isPayout || needsToken;
  if (!isMerchants) return 'merchant or payer';
  return need === 'ask' ? 'merchant; after a sale without it, the payer' : 'merchant';
}

const fieldTable = (brand: Brand): string =>
  table(
    ['Field', 'Need', 'Supplied by', 'Expects'],
    brand.fields.flatMap((field) =>
      withMembers(field).map((row) => [code(row.name), needOf(row), supplierOf(brand, field), expectsOf(row)]),
    ),
  );

/** One curl argument; a value that a form cannot carry unencoded gets `--data-urlencode`. */
function argument([name, value]: [string, string]): string {
  const isPlain = /^[\w@.:-]*$/.test(value);
  const pair = `${name}=${value}`;
  return `${isPlain ? '-d' : '--data-urlencode'} ${/^[\w@=.:-]+$/.test(pair) ? pair : `'${pair}'`}`;
}

export function command(label: string): string {
  const { currency = 'EUR', fields = {} } = EXAMPLES[label] ?? {};
  const payer = BRANDS[label]?.isImmediate ? 'success@example.com' : 'ana@example.com';
  const sale = `sale ${label} ${payer} ${label}-1 ${currency}`;
  const given = Object.entries(fields).map(argument);
  const line = [sale, ...given].join(' ');
  return line.length <= 100 ? line : [sale, ...given].join(' \\\n  ');
}

/** The account settings that are required before a sale of this brand is accepted. */
const toSet = ({ fields }: Brand): string[] =>
  fields
    .filter(({ name, isSetting }) => isSetting && SETTINGS[name as SettingName].default === '')
    .map(({ name }) => name);

function section([label, brand]: [string, Brand]): string[] {
  const missing = toSet(brand);
  return [
    `## ${label}`,
    `**${nameOf(label)}.** ${brand.about}`,
    ...(SANDBOX[label] ? [`**In the sandbox:** ${SANDBOX[label].sandbox}`] : []),
    brand.fields.length > 0 ? fieldTable(brand) : 'This brand has no fields of its own.',
    ...(missing.length > 0
      ? [`Set ${missing.map(code).join(', ')} in the [settings](settings.md) of the account first.`]
      : []),
    ...(brand.needsToken
      ? [
          'Set the keys of the wallet in the [settings](settings.md) of the account first: see [Device wallets](merchant/wallets.md). The token below shows the format only and is refused.',
        ]
      : []),
    ...(brand.methods ? [waysToPay(brand.methods)] : []),
    ['```sh', command(label), '```'].join('\n'),
    ...(label === 'open-banking-a' ? identifications() : []),
    ...(requiresLines(brand.fields) ? [LINES] : []),
  ];
}

const LINES = `
In a [Checkout session](merchant/checkout.md#order-lines) the lines are ${code('order.lines')}, with ${code('order.shipping')},
${code('order.tax')} and ${code('order.discount')}; a session without lines does not offer the brand.`;

const waysToPay = (methods: readonly string[]): string => `
The provider’s page offers the payment methods ${methods.join(', ')}, each if all its fields were sent. If no method is
complete, the payer is asked for the fields of the method with the fewest missing fields.`;

const identifications = (): string[] => [
  '### Payee identification types',
  `
The value of ${code('identification')} depends on ${code('type')}. A payee can have several identifications; send the
second one as ${code('parameters[payee_identifications][1][type]')} and so on. In the ${code('parameters')} of a
[Checkout session](merchant/checkout.md#open-a-session) they are a list of objects with these two members. Checkout does
not offer the brand without this list, because payers cannot enter it.`,
  table(
    ['`type`', '`identification`', 'Example'],
    Object.entries(IDENTIFICATIONS).map(([type, { expects, example }]) => [code(type), expects, code(example)]),
  ),
];

/** The brands that support recurring sales everywhere, or at some providers, as a phrase. */
function recurring(where: Brand['recurs']): string {
  const labels = Object.entries(BRANDS).flatMap(([label, { recurs }]) => (recurs === where ? [code(label)] : []));
  return [labels.slice(0, -1).join(', '), labels.at(-1)].filter(Boolean).join(' or ');
}

export function brands(): string {
  return page(
    'Brands',
    'src/rules/brands.ts and simulator/brands.ts',
    `
This page lists the brands: the payment methods that the field ${code('brand')} of a ${code('SALE')} selects. Each brand
adds its own fields to the [fields of every sale](requests.md#sale). A field that is in both tables must satisfy both.
[S2S sales](merchant/sales.md#results) describes what happens after the sale.

- The account setting ${code('brands')} limits an account to some brands. The setting ${code('brand_aliases')} defines
  other names for brands.
- A field that is _requested from the payer if missing_ may be left out. The sale then returns a redirect to a page of
  the gateway, where the payer enters it. The country is taken from ${code('payer_country')}, in upper or lower case.
- _Only if the provider needs it_: some providers do, others ask the payer themselves. The gateway asks if one that may get
  the payment by the routes of the account needs it.
- _Merchant_ under _Supplied by_ means that only the merchant knows the value: send it in the sale, or in the
  ${code('parameters')} of a [Checkout session](merchant/checkout.md#open-a-session). The payment page does not ask for it,
  and a session that lacks a required one does not offer the brand.
- The payment page shows a brand under its _name_, in the language of the payer, unless the account has given it another
  one. Names that would be the same on a page are numbered: see [Names and order of methods](merchant/payment-page.md#names-and-order-of-methods).
- _Kept sealed_ means that the value is encrypted and sent only to the provider. No response, log or admin call
  contains it. _Not stored_ means that the value is used for the sale and then forgotten.
- Card payments and payments with ${recurring(true)} support [recurring sales](merchant/recurring.md). Those with
  ${recurring('byProvider')} do so at some [providers](connectors.md).
- Payouts (money _out_) cannot be refunded.
- The payer’s time starts with the sale. When it is over, the payment is declined. A payment that its provider has
  accepted can stay ${code('PENDING')} for the time that is marked _while pending_; then it is declined.
- The examples use the shell function ${code('sale')} of the [quick start](merchant/quick-start.md#shell-functions). Its
  arguments are the brand, the identifier, the order number, the currency and the brand fields. In the sandbox the
  identifier ${code('decline@example.com')} makes every brand decline.`,
    table(
      ['Name', 'Brand', 'Description', 'Money', 'Country', 'Currencies', 'Payer’s time', 'In the sandbox'],
      Object.entries(BRANDS).map(([label, brand]) => [
        `[${nameOf(label)}](#${label})`,
        code(label),
        brand.about,
        brand.isPayout ? 'out' : 'in',
        brand.countries?.join(', ') ?? 'any',
        currenciesOf(brand),
        payerTimeOf(brand),
        sandboxOf(label),
      ]),
    ),
    ...Object.entries(BRANDS).flatMap(section),
  );
}
