/** What a request carries, over `/post` and over Checkout, and what its hash covers. */
import { LONG_FIELDS } from '../../src/rules/brands.ts';
import type { Field } from '../../src/rules/fields.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { CHECKOUT_OPERATIONS, type Operation, S2S_OPERATIONS } from '../../src/rules/operations.ts';
import { expectsOf, hashOver, needOf, withMembers } from '../../src/wire/openapi/descriptions.ts';
import { code, page, table } from './markdown.ts';

type Rows = readonly (readonly string[])[];

export function fieldTable(fields: readonly Field[], more: Rows = []): string {
  const rows: Rows[number][] = fields
    .flatMap(withMembers)
    .map((field) => [code(field.name), needOf(field), expectsOf(field)]);
  // The hash stays at the end.
  return table(['Field', 'Need', 'Expects'], more.length === 0 ? rows : rows.toSpliced(-1, 0, ...more));
}

/** The fields of a session that are lists and objects, which the rows of the rules do not know. */
const OF_SESSIONS: Rows = [
  ['methods', 'list of brands, or of their aliases; `card` means cards'],
  ['card_token', `list of tokens, at most ${LIMITS.savedCardsMost}; or one of them`],
  ['parameters', 'object: under the label of a brand, the fields of this brand'],
  ['custom_data', 'object of texts'],
].map(([name = '', expects = '']) => [code(name), 'optional', expects]);

function checkout(): string[] {
  return (Object.entries(CHECKOUT_OPERATIONS) as [string, Operation][]).flatMap(([path, { fields, signs }]) => [
    `### POST /api/v1/${path}`,
    `Hash over: ${hashOver(signs)}`,
    // A credit has a row for its earlier shape only to refuse it.
    fieldTable(
      fields.filter(({ name }) => name !== 'order'),
      path === 'session' ? OF_SESSIONS : [],
    ),
  ]);
}

export function requests(): string {
  const actions = (Object.entries(S2S_OPERATIONS) as [string, Operation][]).flatMap(([action, { fields, signs }]) => [
    `## ${action}`,
    `Hash over: ${hashOver(signs)}`,
    fieldTable(fields),
  ]);
  return page(
    'Requests',
    'src/rules/operations.ts',
    `
Requests come as forms to ${code('/post')}, or as JSON to the paths of [Checkout](#checkout). How the hash is made, and
what the answers look like, is in the [merchant guide](merchant-guide.md). For machines, the same is in
[openapi.json](openapi.json), which the gateway also serves at ${code('/openapi.json')}.

A form goes to ${code('POST /post')} as ${code('application/x-www-form-urlencoded')} or
${code('multipart/form-data')}, and its field ${code('action')} says what to do. The name of an action is written in
capitals, exactly as here. Every form also carries ${code('client_key')}.

The field ${code('brand')} of a sale names the way to pay. Each brand adds its own fields to those of ${code('SALE')};
they are in [Brands](brands.md).

A body has at most ${LIMITS.bodyBytes / 1024} KiB, ${LIMITS.formFields} fields and ${LIMITS.formDepth} levels of
brackets in a name. The long fields of brands (${[...LONG_FIELDS].map(code).join(', ')}) come on top of that; the
fields ${code('action')}, ${code('client_key')} and ${code('brand')} of such a sale come first, within the first
${LIMITS.bodyBytes / 1024} KiB, and the whole body has at most ${LIMITS.bodyBytesMost / 1024 / 1024} MiB. A field is
sent once. A required field that is empty counts as missing. Fields that are not listed are ignored, but
${code('custom_data[…]')} of a sale is kept with the payment.

What the actions do, and how they are answered, is in the merchant guide: [sales](merchant-guide.md#the-answer-to-a-sale),
[captures, voids and refunds](merchant-guide.md#capture-void-refund),
[recurring sales](merchant-guide.md#recurring-sales), [schedules](merchant-guide.md#schedules).`,
    ...actions,
    '## Checkout',
    `
JSON (${code('application/json')}), and the path says what to do. Every request also carries ${code('merchant_key')}. A
point in a name leads into an object: ${code('order.number')} is ${code('{"order": {"number": …}}')}. An optional field
may also be empty or ${code('null')}. Whole numbers may come as text; an amount is always a text. Fields that are not
listed are ignored.

What each path does, and how it is answered, is in the [merchant guide](merchant-guide.md#checkout).`,
    ...checkout(),
  );
}
