/** Parses the form of a `/post` request, URL-encoded or multipart, for the checks. */
import { Secret } from '../../lib/crypto/secret.ts';
import { type Form, positionsIn, readMultipart, readUrlEncoded } from '../../lib/text/form.ts';
import { cardDigits } from '../../rules/hash-recipes.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { RequestBody } from './body.ts';

const FORM_LIMITS = { fields: LIMITS.formFields, depth: LIMITS.formDepth };

export type S2sBody = RequestBody & {
  form: Form;
  /** Whether the form had a field with a card number or a security code. */
  hasCard: boolean;
  /** What a hash covers of the card: the first six and the last four digits of its number, or the whole token. */
  cardText: string;
  /** Forgets the card: `value` returns nothing of it from then on. */
  forgetCard(): void;
};

/** The fields that leave the form before anything else reads it. */
export const CARD_SECRETS = ['card_number', 'card_cvv2'] as const;
type CardSecret = (typeof CARD_SECRETS)[number];
const isCardSecret = (name: string): name is CardSecret => (CARD_SECRETS as readonly string[]).includes(name);

/** Takes card number and security code out of a form, so that nothing that lists its fields can contain them. */
function takeSecrets({ values }: Form): Map<CardSecret, Secret> | undefined {
  // The form was just parsed, and belongs to this module.
  const fields = values as Map<string, string>;
  let taken: Map<CardSecret, Secret> | undefined;
  for (const name of CARD_SECRETS) {
    const value = values.get(name);
    if (value === undefined) continue;
    taken ??= new Map();
    taken.set(name, new Secret(value));
    fields.delete(name);
  }
  return taken;
}

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
  let secrets = takeSecrets(form);
  const digits = cardDigits(secrets?.get('card_number')?.reveal() ?? '');
  return {
    form,
    problems: form.problems,
    hasCard: secrets !== undefined,
    cardText: digits || (form.values.get('card_token') ?? ''),
    forgetCard: () => {
      secrets = undefined;
    },
    value: (name) => {
      const text = form.values.get(name);
      if (text !== undefined) return text;
      return (isCardSecret(name) && secrets?.get(name)?.reveal()) || '';
    },
    isNested: (name) => nested.has(name),
    isFlat: () => nested.size === 0,
    isText: () => true,
    positions: (name) => positionsIn(form.values.keys(), name),
    names: () => form.values.keys(),
    texts: () => form.values,
  };
}

export const URL_ENCODED = 'application/x-www-form-urlencoded';

const emptyForm = (problems: Form['problems']): Form => ({ values: new Map(), problems });

/** Parses a body by its content type; an unsupported type results in a problem instead of fields. */
export function readBody(contentType: string, bytes: Buffer): S2sBody {
  const type = contentType === URL_ENCODED ? contentType : contentType.split(';')[0]?.trim().toLowerCase();
  if (type === URL_ENCODED) return bodyOf(readUrlEncoded(bytes, FORM_LIMITS));
  if (type === 'multipart/form-data') return bodyOf(readMultipart(bytes, contentType, FORM_LIMITS));
  if (bytes.length === 0) return bodyOf(emptyForm([]));
  const sentence = 'This value should be application/x-www-form-urlencoded or multipart/form-data.';
  const expected = 'The header content-type: application/x-www-form-urlencoded, and the fields as a form.';
  return bodyOf(emptyForm([{ field: 'content-type', sentence, expected }]));
}
