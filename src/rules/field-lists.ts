/** The value of a field that is a list of objects. */
import type { Field, FieldContext } from './fields.ts';

/** The objects of a list in the order of their indexes, each with the members that a field has. */
export const listValue = (
  name: string,
  items: readonly Field[],
  context: Pick<FieldContext, 'value' | 'positions'>,
): Record<string, string>[] =>
  context
    .positions(name)
    .toSorted((a, b) => Number(a) - Number(b))
    .map((position) =>
      Object.fromEntries(items.map((item) => [item.name, context.value(`${name}[${position}][${item.name}]`)])),
    );
