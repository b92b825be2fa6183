/** The body of `/post` as the gates look at it: read from either kind of form, or said to be neither. */
import { type Form, positionsIn, readMultipart, readUrlEncoded } from '../../lib/form.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { RequestBody } from '../pipeline.ts';

const FORM_LIMITS = { fields: LIMITS.formFields, depth: LIMITS.formDepth };

export type S2sBody = RequestBody & { form: Form };

function bodyOf(form: Form): S2sBody {
  let nested: Set<string> | undefined;
  return {
    form,
    problems: form.problems,
    value: (name) => form.values.get(name) ?? '',
    isNested(name) {
      if (!nested) {
        nested = new Set();
        for (const field of form.values.keys()) {
          // A name that is nested deeper has its problem already, and may consist of brackets.
          let levels = 0;
          for (let at = field.indexOf('['); at !== -1 && levels++ < LIMITS.formDepth; at = field.indexOf('[', at + 1)) {
            nested.add(field.slice(0, at));
          }
        }
      }
      return nested.has(name);
    },
    isText: () => true,
    positions: (name) => positionsIn(form.values.keys(), name),
    texts: () => form.values,
  };
}

const NOTHING: Form = { values: new Map(), problems: [] };

/** Reads a body by its content type; one of another type has a problem instead of fields. */
export function readBody(contentType: string, bytes: Buffer): S2sBody {
  const type = contentType.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') return bodyOf(readUrlEncoded(bytes, FORM_LIMITS));
  if (type === 'multipart/form-data') return bodyOf(readMultipart(bytes, contentType, FORM_LIMITS));
  if (bytes.length === 0) return bodyOf(NOTHING);
  const sentence = 'This value should be application/x-www-form-urlencoded or multipart/form-data.';
  return bodyOf({ ...NOTHING, problems: [{ field: 'content-type', sentence }] });
}
