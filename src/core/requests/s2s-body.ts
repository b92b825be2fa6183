/** Parses the form of a `/post` request, URL-encoded or multipart, for the checks. */
import { type Form, positionsIn, readMultipart, readUrlEncoded } from '../../lib/form.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { RequestBody } from './body.ts';

const FORM_LIMITS = { fields: LIMITS.formFields, depth: LIMITS.formDepth };

export type S2sBody = RequestBody & { form: Form };

const NONE: ReadonlySet<string> = new Set();

/** The names that have further names inside them: `a` and `a[b]` for `a[b][c]`. */
function nestedNames({ values }: Form): ReadonlySet<string> {
  let nested: Set<string> | undefined;
  for (const field of values.keys()) {
    // Deeper nesting has been reported as a problem; the limit bounds the work for a name full of brackets.
    let levels = 0;
    for (let at = field.indexOf('['); at !== -1 && levels++ < LIMITS.formDepth; at = field.indexOf('[', at + 1)) {
      nested ??= new Set();
      nested.add(field.slice(0, at));
    }
  }
  return nested ?? NONE;
}

function bodyOf(form: Form): S2sBody {
  const nested = nestedNames(form);
  return {
    form,
    problems: form.problems,
    value: (name) => form.values.get(name) ?? '',
    isNested: (name) => nested.has(name),
    isFlat: () => nested.size === 0,
    isText: () => true,
    positions: (name) => positionsIn(form.values.keys(), name),
    names: () => form.values.keys(),
    texts: () => form.values,
  };
}

export const URL_ENCODED = 'application/x-www-form-urlencoded';

const EMPTY_FORM: Form = { values: new Map(), problems: [] };

/** Parses a body by its content type; an unsupported type results in a problem instead of fields. */
export function readBody(contentType: string, bytes: Buffer): S2sBody {
  const type = contentType === URL_ENCODED ? contentType : contentType.split(';')[0]?.trim().toLowerCase();
  if (type === URL_ENCODED) return bodyOf(readUrlEncoded(bytes, FORM_LIMITS));
  if (type === 'multipart/form-data') return bodyOf(readMultipart(bytes, contentType, FORM_LIMITS));
  if (bytes.length === 0) return bodyOf(EMPTY_FORM);
  const sentence = 'This value should be application/x-www-form-urlencoded or multipart/form-data.';
  const expected = 'The header content-type: application/x-www-form-urlencoded, and the fields as a form.';
  return bodyOf({ ...EMPTY_FORM, problems: [{ field: 'content-type', sentence, expected }] });
}
