/** Generates docs/requests.md: the fields of every request over `/post` and Checkout, and the fields that its hash covers. */
import { LONG_FIELDS } from '../../src/rules/brands.ts';
import type { Field } from '../../src/rules/fields.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { type ApiOperation, CHECKOUT_OPERATIONS, S2S_OPERATIONS } from '../../src/rules/operations.ts';
import { expectsOf, hashOver, needOf, withMembers } from '../../src/wire/openapi/descriptions.ts';
import { code, page, table } from './markdown.ts';

type Rows = readonly (readonly string[])[];

function fieldTable(fields: readonly Field[], more: Rows = []): string {
  const rows: Rows[number][] = fields
    .flatMap(withMembers)
    .map((field) => [code(field.name), needOf(field), expectsOf(field)]);
  // The hash stays at the end.
  return table(['Field', 'Need', 'Expects'], more.length === 0 ? rows : rows.toSpliced(-1, 0, ...more));
}

/** The list and object fields of a session, which the field tables of the rules do not contain. */
const OF_SESSIONS: Rows = [
  ['methods', 'list of brand labels or aliases; `card` means cards'],
  ['card_token', `list of at most ${LIMITS.savedCardsMost} tokens, or one token`],
  ['parameters', 'object that maps a brand label to an object with the fields of the brand'],
  ['custom_data', 'object of texts'],
].map(([name = '', expects = '']) => [code(name), 'optional', expects]);

function checkout(): string[] {
  return (Object.entries(CHECKOUT_OPERATIONS) as [string, ApiOperation][]).flatMap(([path, { fields, signs }]) => [
    `### POST /api/v1/${path}`,
    `Hash over: ${hashOver(signs)}`,
    // The field `order` of a credit exists only to refuse an earlier request format.
    fieldTable(
      fields.filter(({ name }) => name !== 'order'),
      path === 'session' ? OF_SESSIONS : [],
    ),
  ]);
}

export function requests(): string {
  const actions = (Object.entries(S2S_OPERATIONS) as [string, ApiOperation][]).flatMap(
    ([action, { fields, signs }]) => [`## ${action}`, `Hash over: ${hashOver(signs)}`, fieldTable(fields)],
  );
  return page(
    'Requests',
    'src/rules/operations.ts',
    `
This page lists the fields of every request. Requests are forms to ${code('/post')}, or JSON to the paths of
[Checkout](#checkout). [Sign requests](merchant/sign-requests.md) describes how to compute the hash.
[openapi.json](openapi.json) contains the same information in machine-readable form; the gateway serves it at
${code('/openapi.json')}.

A form request is sent to ${code('POST /post')} as ${code('application/x-www-form-urlencoded')} or
${code('multipart/form-data')}. Its field ${code('action')} is the name of the action in capital letters, as in the
headings below. Every form also contains ${code('client_key')}.

The field ${code('brand')} of a sale selects the payment method. [Brands](brands.md) lists the fields that each brand
adds to those of ${code('SALE')}.

A body has at most ${LIMITS.bodyBytes / 1024} KiB, ${LIMITS.formFields} fields and ${LIMITS.formDepth} levels of
brackets in a name. Long brand fields (${[...LONG_FIELDS].map(code).join(', ')}) do not count towards this limit; the
whole body has at most ${LIMITS.bodyBytesMost / 1024 / 1024} MiB. In such a sale, send ${code('action')},
${code('client_key')} and ${code('brand')} first, within the first ${LIMITS.bodyBytes / 1024} KiB. Send each field once.
A required field that is empty counts as missing. Fields that are not listed are ignored, except that
${code('custom_data[…]')} of a sale is stored with the payment.

The merchant guide describes the actions and their responses: [sales](merchant/sales.md),
[status queries](merchant/status.md), [captures, voids and refunds](merchant/operations.md),
[recurring sales](merchant/recurring.md) and [schedules](merchant/schedules.md).`,
    ...actions,
    '## Checkout',
    `
A Checkout request is JSON (${code('application/json')}), and its path selects the operation. Every request also contains
${code('merchant_key')}. A dot in a name denotes a nested object: ${code('order.number')} is
${code('{"order": {"number": …}}')}. An optional field may be empty or ${code('null')}. Whole numbers may be sent as
strings; an amount is always a string. Fields that are not listed are ignored.

[Checkout](merchant/checkout.md) describes the paths and their responses.`,
    ...checkout(),
  );
}
