/** Every brand: what it is, which fields it has, and a request that works. */
import { BRANDS as SANDBOX } from '../../simulator/brands.ts';
import { BRANDS, type Brand } from '../../src/rules/brands.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { SETTINGS, type SettingName } from '../../src/rules/settings.ts';
import { EXAMPLES, IDENTIFICATIONS } from './brand-examples.ts';
import { code, duration, page, table } from './markdown.ts';
import { fieldTable } from './requests.ts';

/** The test brand has no simulated provider: the gateway itself answers. */
const sandboxOf = (label: string): string =>
  SANDBOX[label]?.sandbox ?? 'Answers at once: the identifier selects the outcome.';

function currenciesOf({ fields }: Brand): string {
  const choices = fields.find(({ name }) => name === 'order_currency')?.schema.enum as string[] | undefined;
  return choices?.join(', ') ?? 'any';
}

function payerTimeOf({ isImmediate, isPayout, payerTimeMs, codeTimeMs, pendingMs }: Brand): string {
  if (isImmediate) return 'no payer is waited for';
  if (payerTimeMs !== undefined) return duration(payerTimeMs);
  const end = pendingMs === undefined ? '' : `; ${duration(pendingMs)} while it is pending`;
  if (isPayout) return `no payer is waited for${end}`;
  if (codeTimeMs !== undefined) return `the code is shown for ${duration(codeTimeMs)}${end}`;
  return `${duration(LIMITS.payerMs)} after a redirect${end}`;
}

/** One argument of curl; what a form would not carry as it stands is encoded. */
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

/** What has to be set in the account before a sale of this brand is accepted. */
const toSet = ({ fields }: Brand): string[] =>
  fields
    .filter(({ name, isSetting }) => isSetting && SETTINGS[name as SettingName].default === '')
    .map(({ name }) => name);

function section([label, brand]: [string, Brand]): string[] {
  const missing = toSet(brand);
  return [
    `## ${label}`,
    brand.about,
    ...(SANDBOX[label] ? [`**In the sandbox:** ${SANDBOX[label].sandbox}`] : []),
    brand.fields.length > 0 ? fieldTable(brand.fields) : 'It has no fields of its own.',
    ...(missing.length > 0
      ? [`Set ${missing.map(code).join(', ')} in the [settings](settings.md) of the account first.`]
      : []),
    ...(brand.methods ? [waysToPay(brand.methods)] : []),
    ['```sh', command(label), '```'].join('\n'),
    ...(label === 'open-banking-a' ? identifications() : []),
  ];
}

const waysToPay = (methods: readonly string[]): string => `
The provider’s page offers the ways to pay ${methods.join(', ')}, each when all its fields came. When none is complete,
the payer is asked for the fields of the one that lacks the least.`;

const identifications = (): string[] => [
  '### Ways to identify a payee',
  `
What ${code('identification')} expects for each ${code('type')}. A payee may have several: the second one is sent as
${code('parameters[payee_identifications][1][type]')} and so on. In the ${code('parameters')} of a
[Checkout session](merchant-guide.md#a-session) they are a list of objects with these two members. Without it the brand
is not offered there, because no payer could fill it in.`,
  table(
    ['`type`', '`identification`', 'Such as'],
    Object.entries(IDENTIFICATIONS).map(([type, { expects, example }]) => [code(type), expects, code(example)]),
  ),
];

/** The brands whose payments can be repeated, as a phrase. */
function recurring(): string {
  const labels = Object.entries(BRANDS).flatMap(([label, { recurs }]) => (recurs ? [code(label)] : []));
  return [labels.slice(0, -1).join(', '), labels.at(-1)].filter(Boolean).join(' or ');
}

export function brands(): string {
  return page(
    'Brands',
    'src/rules/brands.ts and simulator/brands.ts',
    `
The field ${code('brand')} of a ${code('SALE')} names the way to pay. Each brand adds its own fields to those of every
sale ([Requests](requests.md)); where a field stands in both tables, both have to hold. What happens after the sale is
in the [merchant guide](merchant-guide.md#what-happens-after-a-sale).

- An account may be limited to some brands (setting ${code('brands')}), and may call a brand by another name
  (${code('brand_aliases')}).
- A field that is _asked_ may be left out. Then the sale is answered with a redirect to our page, where the payer fills
  it in. Country codes are taken from ${code('payer_country')}, in capitals or small letters.
- _Kept sealed_ means that the value goes to the provider and nobody else ever sees it: no answer, no log, no operator.
- A payment of ${recurring()} can be repeated without its payer: it may be the first of
  [recurring sales](merchant-guide.md#recurring-sales).
- Money that goes out cannot be refunded.
- The payer’s time counts from the sale. When it is over, the payment is declined. A payment that is ${code('PENDING')}
  without such a time waits until its provider tells the outcome.
- The examples use the shell function ${code('sale')} of the [merchant guide](merchant-guide.md#shell-functions): brand,
  identifier, order number, currency, and the fields of the brand. In the sandbox the identifier ${code('decline@example.com')} makes every
  brand decline.`,
    table(
      ['Brand', 'About', 'Money', 'Currencies', 'The payer’s time', 'In the sandbox'],
      Object.entries(BRANDS).map(([label, brand]) => [
        `[${label}](#${label})`,
        brand.about,
        brand.isPayout ? 'out' : 'in',
        currenciesOf(brand),
        payerTimeOf(brand),
        sandboxOf(label),
      ]),
    ),
    ...Object.entries(BRANDS).flatMap(section),
  );
}
