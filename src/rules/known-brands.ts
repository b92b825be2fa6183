/** The brands that payers know by their names, such as iDEAL; each asks only for what its provider needs. */
import { type Brand, p, upstream } from './brand.ts';
import { anyText, ask, type Field, may, must, oneOf } from './fields.ts';
import { countryIn, digits, email, iban, mobileNumber } from './formats.ts';
import { LIMITS } from './limits.ts';
import type { MethodKind } from './method-kinds.ts';
import { SALE_LINE_FIELDS } from './order-lines.ts';

/** Asked for if a provider that may get the payment needs it; the table of connectors says which ones do. */
const FOR_PROVIDER = { isForProvider: true } as const;
const PERSON: readonly Field[] = [
  ask('payer_first_name', anyText, { ...FOR_PROVIDER, label: 'First name' }),
  ask('payer_last_name', anyText, { ...FOR_PROVIDER, label: 'Last name' }),
];
const EMAIL = ask('payer_email', email, { ...FOR_PROVIDER, label: 'E-mail address' });

/** Where a method is used: in these currencies, by payers of these countries. */
type Use = Required<Pick<Brand, 'currencies'>> & Pick<Brand, 'countries' | 'currency'>;

/** A method that payers know by its name. */
const known = (
  kind: MethodKind,
  name: string,
  about: string,
  use: Use,
  fields: readonly Field[] = [],
  traits: Partial<Brand> = {},
): Brand => {
  const asksForCountry = fields.some((field) => field.name === 'payer_country');
  const ofUse = [
    must('order_currency', oneOf(use.currencies)),
    ...(use.countries && !asksForCountry ? [may('payer_country', countryIn(use.countries))] : []),
  ];
  return upstream(kind, about, [...ofUse, ...fields], { name, ...use, ...traits });
};

const RECURS = { recurs: 'byProvider' } as const;
const EURO = ['EUR'];
const KLARNA_COUNTRIES = 'AT AU BE CA CH CZ DE DK ES FI FR GB GR HU IE IT NL NO NZ PL PT RO SE SK US'.split(' ');
/** The scope of the schemes of SEPA. */
const SEPA_COUNTRIES = (
  'AD AL AT BE BG CH CY CZ DE DK EE ES FI FR GB GR HR HU IE IS IT LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS SE SI ' +
  'SK SM VA'
).split(' ');

export const KNOWN_BRANDS: Readonly<Record<string, Brand>> = {
  ideal: known(
    'onlineBanking',
    'iDEAL',
    'iDEAL: the payer approves in their online banking in the Netherlands.',
    { currencies: EURO, countries: ['NL'] },
    [],
    RECURS,
  ),
  bancontact: known(
    'onlineBanking',
    'Bancontact',
    'Bancontact: the payer pays by card or banking app in Belgium.',
    { currencies: EURO, countries: ['BE'] },
    PERSON,
    RECURS,
  ),
  eps: known(
    'onlineBanking',
    'EPS',
    'eps: the payer approves in their online banking in Austria.',
    { currencies: EURO, countries: ['AT'] },
    PERSON,
    RECURS,
  ),
  przelewy24: known(
    'onlineBanking',
    'Przelewy24',
    'Przelewy24: the payer approves in their online banking in Poland.',
    { currencies: ['PLN', 'EUR'], countries: ['PL'], currency: 'PLN' },
    [EMAIL],
  ),
  blik: known(
    'payApp',
    'BLIK',
    'BLIK: the payer enters a code of their banking app in Poland, and approves the payment there.',
    { currencies: ['PLN'], countries: ['PL'], currency: 'PLN' },
    [
      ask(p('code'), digits(6, 6), {
        ...FOR_PROVIDER,
        isSecret: true,
        label: 'BLIK code',
        hint: '6 digits from your banking app',
      }),
    ],
    { pendingMs: LIMITS.dayMs },
  ),
  twint: known('payApp', 'TWINT', 'TWINT: the payer approves in their app in Switzerland.', {
    currencies: ['CHF'],
    countries: ['CH', 'LI'],
    currency: 'CHF',
  }),
  swish: known('payApp', 'Swish', 'Swish: the payer approves in their app in Sweden.', {
    currencies: ['SEK'],
    countries: ['SE'],
    currency: 'SEK',
  }),
  mobilepay: known('payApp', 'MobilePay', 'MobilePay: the payer approves in their app in Denmark or Finland.', {
    currencies: ['DKK', 'EUR', 'NOK', 'SEK'],
    countries: ['DK', 'FI'],
    currency: 'DKK',
  }),
  mbway: known(
    'payApp',
    'MB WAY',
    'MB WAY: the payer approves in their app in Portugal, which is found by the phone number.',
    { currencies: EURO, countries: ['PT'] },
    [
      ask('payer_phone', mobileNumber, {
        ...FOR_PROVIDER,
        label: 'Mobile number',
        hint: 'With the country code, such as +351 912 345 678',
      }),
      EMAIL,
    ],
    { pendingMs: LIMITS.dayMs },
  ),
  paypal: known(
    'payAccount',
    'PayPal',
    'PayPal: the payer approves in their PayPal account.',
    {
      currencies: 'AUD BRL CAD CHF CZK DKK EUR GBP HKD HUF ILS JPY MXN MYR NOK NZD PHP PLN SEK SGD THB TWD USD'.split(
        ' ',
      ),
    },
    [],
    RECURS,
  ),
  klarna: known(
    'payLater',
    'Klarna',
    'Klarna: the payer buys now and pays later, or in parts. The order needs lines, which add up to its amount.',
    {
      currencies: 'AUD CAD CHF CZK DKK EUR GBP HUF NOK NZD PLN RON SEK USD'.split(' '),
      countries: KLARNA_COUNTRIES,
    },
    [
      ...SALE_LINE_FIELDS,
      ask('payer_country', countryIn(KLARNA_COUNTRIES), { ...FOR_PROVIDER, label: 'Country' }),
      EMAIL,
      ...PERSON,
      ask('payer_address', anyText, { ...FOR_PROVIDER, label: 'Street and house number' }),
      ask('payer_zip', anyText, { ...FOR_PROVIDER, label: 'Postal code' }),
      ask('payer_city', anyText, { ...FOR_PROVIDER, label: 'City' }),
    ],
  ),
  'sepa-debit': upstream(
    'directDebit',
    'SEPA direct debit: the payer lets the merchant debit their bank account. Banks may take weeks to refuse. A merchant who sends the account has shown the payer the text of the mandate; the payment page shows it otherwise.',
    [
      must('order_currency', oneOf(EURO)),
      may('payer_country', countryIn(SEPA_COUNTRIES)),
      ask(p('iban'), iban, { ...FOR_PROVIDER, isSecret: true, label: 'IBAN' }),
      ...PERSON,
      EMAIL,
    ],
    { currencies: EURO, countries: SEPA_COUNTRIES, pendingMs: 21 * LIMITS.dayMs, ...RECURS },
  ),
};
