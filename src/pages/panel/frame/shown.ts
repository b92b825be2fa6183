/** What a form showed, so that saving it changes only what its operator changed, not what others did meanwhile. */
import { hash } from 'node:crypto';
import { type Html, html } from '../../../lib/text/html.ts';
import { isObject } from '../../../lib/text/json.ts';

type Form = ReadonlyMap<string, string>;

const FIELD = 'shown';

/** Browsers send line breaks of a text area as CRLF. */
const digestOf = (value: string): string => hash('sha256', value.replaceAll('\r\n', '\n'), 'base64url').slice(0, 12);

/** Digests of the stored values of the fields. A form that is shown again keeps those of its first time. */
export function shownValues(form: Form, stored: Readonly<Record<string, string>>): Html {
  const digests = Object.entries(stored).map(([name, value]) => [name, digestOf(value)]);
  return html`<input type="hidden" name="${FIELD}" value="${form.get(FIELD) ?? JSON.stringify(Object.fromEntries(digests))}">`;
}

function readShown(form: Form): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(form.get(FIELD) ?? '');
    return isObject(read) ? read : {};
  } catch {
    return {};
  }
}

/** Whether a field was changed since it was shown; a form that does not say what it showed is compared with `stored`. */
export function isEdited(form: Form, name: string, stored: string): boolean {
  const typed = form.get(name);
  return typed !== undefined && digestOf(typed) !== (readShown(form)[name] ?? digestOf(stored));
}
