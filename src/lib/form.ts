/** Reads a form body strictly: what is broken, repeated or too much is named, never bent into shape. */
import { isUtf8 } from 'node:buffer';
import { Busboy } from '@fastify/busboy';

export interface FormProblem {
  field: string;
  sentence: string;
}

/** Values under their full names as sent, `parameters[a][0]` included, and what was wrong with the body. */
export interface Form {
  values: ReadonlyMap<string, string>;
  problems: readonly FormProblem[];
}

export interface FormLimits {
  fields: number;
  depth: number;
}

/** How a name is shown in an answer: only names of ordinary shape are repeated to the sender. */
const shown = (name: string): string => (/^[\w.[\]-]{1,64}$/.test(name) ? name : 'body');

const NAME = /^[^[\]]+(?:\[[^[\]]*\])*$/;

class Reader {
  readonly values = new Map<string, string>();
  readonly problems: FormProblem[] = [];
  readonly #limits: FormLimits;
  #fields = 0;

  constructor(limits: FormLimits) {
    this.#limits = limits;
  }

  add(name: string, value: string): void {
    if (++this.#fields > this.#limits.fields) return;
    if (value.includes('\0') || name.includes('\0')) this.refuse(name, 'This value is not valid.');
    if (name.includes('[')) this.#checkNesting(name);
    const before = this.values.size;
    this.values.set(name, value);
    if (this.values.size === before && !name.endsWith('[]')) this.refuse(name, 'This value should be sent once.');
  }

  #checkNesting(name: string): void {
    if (!NAME.test(name)) this.refuse(name, 'This name is not valid.');
    if (name.split('[').length - 1 > this.#limits.depth) {
      this.refuse(name, `This value is nested too deep. It should have ${this.#limits.depth} levels or less.`);
    }
  }

  refuse(name: string, sentence: string): void {
    this.problems.push({ field: shown(name), sentence });
  }

  finish(): Form {
    if (this.#fields > this.#limits.fields) {
      this.refuse('body', `The form has too many fields. It should have ${this.#limits.fields} or less.`);
    }
    return this;
  }
}

const decode = (text: string): string => decodeURIComponent(text.includes('+') ? text.replaceAll('+', ' ') : text);

const isPlain = (text: string): boolean => !text.includes('%') && !text.includes('+');

/** Reads `application/x-www-form-urlencoded`. */
export function readUrlEncoded(body: Buffer, limits: FormLimits): Form {
  const form = new Reader(limits);
  if (!isUtf8(body)) form.refuse('body', 'The body should be UTF-8.');
  const text = body.toString('utf8');
  const plain = isPlain(text);
  let start = 0;
  while (start < text.length) {
    let end = text.indexOf('&', start);
    if (end === -1) end = text.length;
    if (end > start) {
      const equals = text.indexOf('=', start);
      const hasValue = equals !== -1 && equals < end;
      const name = text.slice(start, hasValue ? equals : end);
      const value = hasValue ? text.slice(equals + 1, end) : '';
      if (plain) form.add(name, value);
      else addDecoded(form, name, value);
    }
    start = end + 1;
  }
  return form.finish();
}

function addDecoded(form: Reader, name: string, value: string): void {
  let readable = 'body';
  try {
    readable = decode(name);
    form.add(readable, isPlain(value) ? value : decode(value));
  } catch {
    form.refuse(readable, 'This value is not valid percent-encoded UTF-8.');
    // Kept as sent, so that a later check can still tell that the field was there.
    form.add(readable, value);
  }
}

/** Reads `multipart/form-data`; file parts are refused, every field of ours is a text. */
export function readMultipart(body: Buffer, contentType: string, limits: FormLimits): Promise<Form> {
  const form = new Reader(limits);
  if (!isUtf8(body)) form.refuse('body', 'The body should be UTF-8.');
  return new Promise((resolve) => {
    const broken = () => {
      form.refuse('body', 'The body is not valid multipart/form-data.');
      resolve(form.finish());
    };
    try {
      const parser = new Busboy({
        headers: { 'content-type': contentType },
        limits: { fieldSize: body.length, fieldNameSize: 1024 },
      });
      parser.on('field', (name, value, nameTruncated) => {
        if (nameTruncated) form.refuse('body', 'The name of a field is too long.');
        form.add(name, value);
      });
      parser.on('file', (name, stream) => {
        form.refuse(name, 'This value should be a text, not a file.');
        stream.resume();
      });
      parser.on('error', broken);
      parser.on('finish', () => resolve(form.finish()));
      parser.end(body);
    } catch {
      broken();
    }
  });
}

/** The entries `root[key]…` of a form, under the names inside the first brackets as sent. */
export function entriesBelow(form: Form, root: string): [string, string][] {
  const below: [string, string][] = [];
  for (const [name, value] of form.values) {
    if (name.startsWith(root) && name.charAt(root.length) === '[') {
      const close = name.indexOf(']');
      below.push([name.slice(root.length + 1, close) + name.slice(close + 1), value]);
    }
  }
  return below;
}
