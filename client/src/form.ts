/** Forms with nested names, such as `custom_data[cart][id]`: writing those of requests, reading those of callbacks. */

/** The members of an object as form fields; flags are written as `Y` and `N`, and missing values are left out. */
export function formOf(value: object): URLSearchParams {
  const form = new URLSearchParams();
  const add = (name: string, member: unknown): void => {
    if (member === undefined || member === null) return;
    if (typeof member === 'object') {
      for (const [inner, one] of Object.entries(member)) add(`${name}[${inner}]`, one);
    } else form.append(name, String(member));
  };
  for (const [name, member] of Object.entries(value)) {
    add(name, typeof member === 'boolean' ? (member ? 'Y' : 'N') : member);
  }
  return form;
}

export interface Nested {
  [name: string]: string | Nested;
}

/** The fields of a form as an object; a name in brackets is a member of a nested object. */
export function objectOf(form: URLSearchParams): Nested {
  // Without a prototype, so that a field cannot replace one.
  const fields: Nested = Object.create(null);
  for (const [name, value] of form) {
    const parts = /^[^[\]]+(\[[^[\]]*\])+$/.test(name) ? name.replaceAll(']', '').split('[') : [name];
    const last = parts.pop() as string;
    let place = fields;
    for (const part of parts) {
      const below = place[part];
      place[part] = typeof below === 'object' ? below : Object.create(null);
      place = place[part] as Nested;
    }
    place[last] = value;
  }
  return fields;
}
