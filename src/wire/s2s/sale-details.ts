/** What a sale over `/post` stores of its request, and the content by which a repeat is recognised. */
import type { PaymentDetails } from '../../core/context.ts';
import type { S2sBody } from '../../core/requests/s2s-body.ts';
import { entriesBelow } from '../../lib/text/form.ts';
import { channelOf } from '../../rules/unused-fields.ts';

/** The payer fields of a request, and the names under which they are stored. */
const PAYER_FIELDS = [
  ['payer_first_name', 'first_name'],
  ['payer_last_name', 'last_name'],
  ['payer_address', 'address'],
  ['payer_country', 'country'],
  ['payer_state', 'state'],
  ['payer_city', 'city'],
  ['payer_zip', 'zip'],
  ['payer_email', 'email'],
  ['payer_phone', 'phone'],
  ['payer_ip', 'ip'],
] as const;

/** Those of a card sale. */
const CARD_PAYER_FIELDS = [
  ...PAYER_FIELDS,
  ['payer_middle_name', 'middle_name'],
  ['payer_birth_date', 'birth_date'],
] as const;

const OPTIONAL_DETAILS = [
  ['identifier', 'identifier'],
  ['term_url_3ds', 'termUrl3ds'],
  ['callback_url', 'callbackUrl'],
] as const;

function baseDetails(
  { value, form }: S2sBody,
  returnField: 'return_url' | 'term_url_3ds',
  payerFields: readonly (readonly [string, string])[],
): PaymentDetails {
  const payer: Record<string, string> = {};
  for (const [field, name] of payerFields) {
    const text = value(field);
    if (text !== '') payer[name] = text;
  }
  const details: PaymentDetails = { description: value('order_description'), returnUrl: value(returnField), payer };
  for (const [field, name] of OPTIONAL_DETAILS) {
    const text = value(field);
    if (text !== '') details[name] = text;
  }
  const channelId = channelOf(value('channel_id'));
  if (channelId !== undefined) details.channelId = channelId;
  const customData = entriesBelow(form, 'custom_data');
  if (customData.length > 0) details.customData = Object.fromEntries(customData);
  return details;
}

export const saleDetails = (body: S2sBody): PaymentDetails => baseDetails(body, 'return_url', PAYER_FIELDS);

/** A card sale has one address, to which the payer returns after 3DS and from the page of a provider. */
export const cardSaleDetails = (body: S2sBody): PaymentDetails => baseDetails(body, 'term_url_3ds', CARD_PAYER_FIELDS);

/** The content of a request in a canonical order, without the hash: after a password rotation a repeat has another hash. */
export function canonicalContent({ form, value }: S2sBody): string {
  let content = '';
  for (const name of [...form.values.keys()].sort()) content += entry(name, form.values.get(name) as string);
  const number = value('card_number');
  return number === '' ? content : content + entry('card_number', number);
}

/** The lengths make the encoding unambiguous. */
const entry = (name: string, value: string): string =>
  name === 'hash' ? '' : `${name.length}:${name}${value.length}:${value}`;
