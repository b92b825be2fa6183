/** What a request of each action carries, and what its hash covers. */
import { LONG_FIELDS } from '../../src/rules/brands.ts';
import type { Field } from '../../src/rules/fields.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { type Operation, S2S_OPERATIONS } from '../../src/rules/operations.ts';
import { expectsOf, hashOver, needOf, withMembers } from '../../src/wire/openapi/words.ts';
import { code, page, table } from './markdown.ts';

export const fieldTable = (fields: readonly Field[]): string =>
  table(
    ['Field', 'Need', 'Expects'],
    fields.flatMap(withMembers).map((field) => [code(field.name), needOf(field), expectsOf(field)]),
  );

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
Every request goes to ${code('POST /post')} as a form (${code('application/x-www-form-urlencoded')} or
${code('multipart/form-data')}), and its field ${code('action')} says what to do. The name of an action is written in
capitals, exactly as here. Every request also carries ${code('client_key')}. How the hash is made, and what the answers
look like, is in the [merchant guide](merchant-guide.md). For machines, the same is in [openapi.json](openapi.json),
which the gateway also serves at ${code('/openapi.json')}.

The field ${code('brand')} of a sale names the way to pay. Each brand adds its own fields to those of ${code('SALE')};
they are in [Brands](brands.md).

A body has at most ${LIMITS.bodyBytes / 1024} KiB, ${LIMITS.formFields} fields and ${LIMITS.formDepth} levels of
brackets in a name. The long fields of brands (${[...LONG_FIELDS].map(code).join(', ')}) come on top of that. A field
is sent once. A required field that is empty counts as missing. Fields that are not listed are ignored, but
${code('custom_data[…]')} of a sale is kept with the payment.

What the actions do, and how they are answered, is in the merchant guide: [sales](merchant-guide.md#the-answer-to-a-sale),
[captures, voids and refunds](merchant-guide.md#capture-void-refund),
[recurring sales](merchant-guide.md#recurring-sales), [schedules](merchant-guide.md#schedules).`,
    ...actions,
  );
}
