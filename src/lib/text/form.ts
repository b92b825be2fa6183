/** A strict parser of form bodies: malformed, repeated and excess fields are reported, never repaired. */
import { isUtf8 } from 'node:buffer';

export interface FormProblem {
  field: string;
  sentence: string;
  expected?: string;
}

/** The values under their full names, such as `parameters[a][0]` (empty brackets get an index), and the problems of the body. */
export interface Form {
  values: ReadonlyMap<string, string>;
  problems: readonly FormProblem[];
}

export interface FormLimits {
  fields: number;
  depth: number;
}

/** The name of a field as a response shows it; a name that could be a misplaced secret becomes `body`. */
export const printableName = (name: string): string =>
  /^[\w.[\]-]{1,64}$/.test(name) && !/[\da-f]{32}/i.test(name) ? name : 'body';

export const VALUE_AND_MEMBERS = 'This value should be a single text or have members, not both.';

/** A name that has a value and members as well, such as `a` beside `a[b]`; `depth` bounds the levels that are examined. */
export function nameWithMembers(names: { keys(): Iterable<string>; has(name: string): boolean }, depth: number) {
  for (const name of names.keys()) {
    let levels = 0;
    for (let at = name.indexOf('['); at !== -1 && levels++ < depth; at = name.indexOf('[', at + 1)) {
      if (names.has(name.slice(0, at))) return name.slice(0, at);
    }
  }
  return undefined;
}

const NAME = /^[^[\]]+(?:\[[^[\]]*\])*$/;

class Reader {
  readonly values = new Map<string, string>();
  readonly problems: FormProblem[] = [];
  readonly #limits: FormLimits;
  /** Whether no name has a bracket, and no text a NUL, so that nothing more than repetition is examined. */
  readonly #isSimple: boolean;
  readonly #listLengths = new Map<string, number>();
  #fields = 0;

  constructor(limits: FormLimits, isSimple = false) {
    this.#limits = limits;
    this.#isSimple = isSimple;
  }

  /** Counts the next field; false when the form has too many, and the rest of the body is then skipped. */
  begin(): boolean {
    return ++this.#fields <= this.#limits.fields;
  }

  add(name: string, value: string): void {
    const fullName = this.#isSimple ? name : this.#examine(name, value);
    const before = this.values.size;
    this.values.set(fullName, value);
    if (this.values.size === before) this.refuse(name, 'This value should be sent once.');
  }

  /** Refuses what is malformed, and returns the name under which the value is kept. */
  #examine(name: string, value: string): string {
    if (value.includes('\0') || name.includes('\0')) this.refuse(name, 'This value is not valid.');
    return name.includes('[') && this.#isNestedWell(name) ? this.#numbered(name) : name;
  }

  /**
   * `a[]` is the next entry of the list `a`, also in `a[][x]`: it gets an index, as PHP gives it, so that it does not
   * replace the previous one.
   */
  #numbered(name: string): string {
    let full = name;
    for (let at = full.indexOf('[]'); at !== -1; at = full.indexOf('[]', at + 1)) {
      const list = full.slice(0, at);
      const length = this.#listLengths.get(list) ?? 0;
      this.#listLengths.set(list, length + 1);
      full = `${list}[${length}]${full.slice(at + 2)}`;
    }
    return full;
  }

  #isNestedWell(name: string): boolean {
    const isValid = NAME.test(name);
    const isTooDeep = levelsOf(name, this.#limits.depth + 1) > this.#limits.depth;
    if (!isValid) this.refuse(name, 'This name is not valid.');
    if (isTooDeep) {
      this.refuse(name, `This value is nested too deep. It should have ${this.#limits.depth} levels or less.`);
    }
    return isValid && !isTooDeep;
  }

  addFile(name: string): void {
    this.refuse(name, 'This value should be a text, not a file.');
  }

  refuse(name: string, sentence: string): void {
    this.problems.push({ field: printableName(name), sentence });
  }

  finish(): Form {
    const parent = this.#isSimple ? undefined : nameWithMembers(this.values, this.#limits.depth);
    if (parent !== undefined) this.refuse(parent, VALUE_AND_MEMBERS);
    if (this.#fields > this.#limits.fields) {
      const sentence = `The form has too many fields. It should have ${this.#limits.fields} or less.`;
      this.problems.push({ field: 'body', sentence });
    }
    return this;
  }
}

/** Counts the opening brackets of a name, up to a bound, because a hostile name may consist of brackets only. */
function levelsOf(name: string, most: number): number {
  let levels = 0;
  for (let at = name.indexOf('['); at !== -1 && levels < most; at = name.indexOf('[', at + 1)) levels++;
  return levels;
}

const LONG_TEXT = 4096;
const PLUS = 43;
const SPACE = 32;

/** Replaces plus signs with spaces; in a long text byte by byte, because `replaceAll` is slow with many matches. */
function withSpaces(text: string): string {
  if (text.length < LONG_TEXT) return text.replaceAll('+', ' ');
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === PLUS) bytes[at] = SPACE;
  return bytes.toString();
}

const decode = (text: string): string => decodeURIComponent(text.includes('+') ? withSpaces(text) : text);

const isPlain = (text: string): boolean => !text.includes('%') && !text.includes('+');

const AMPERSAND = 38;
/** An opening bracket or a NUL, as it is or percent-encoded. */
const NOT_SIMPLE = /[[\0]|%(?:5b|00)/i;

/** Parses `application/x-www-form-urlencoded`, up to the maximum number of fields. */
export function readUrlEncoded(body: Buffer, limits: FormLimits): Form {
  const text = body.toString('utf8');
  const form = new Reader(limits, !NOT_SIMPLE.test(text));
  if (!isUtf8(body)) form.refuse('body', 'The body should be UTF-8.');
  const plain = isPlain(text);
  let start = 0;
  let equals = -1;
  while (start < text.length) {
    if (text.charCodeAt(start) === AMPERSAND) {
      start++;
      continue;
    }
    if (!form.begin()) break;
    let end = text.indexOf('&', start);
    if (end === -1) end = text.length;
    // Search only behind the last match, so that the text is scanned once in total.
    if (equals < start) equals = text.indexOf('=', start);
    if (equals === -1) equals = text.length;
    const hasValue = equals < end;
    const name = text.slice(start, hasValue ? equals : end);
    const value = hasValue ? text.slice(equals + 1, end) : '';
    if (plain) form.add(name, value);
    else addDecoded(form, name, value);
    start = end + 1;
  }
  return form.finish();
}

/** Adds a pair that may be percent-encoded. Each malformed one costs an exception; the field limit bounds their number. */
function addDecoded(form: Reader, name: string, value: string): void {
  let readable = 'body';
  try {
    readable = isPlain(name) ? name : decode(name);
    form.add(readable, isPlain(value) ? value : decode(value));
  } catch {
    form.refuse(readable, 'This value is not valid percent-encoded UTF-8.');
    // Kept as sent, so that later checks do not report the field as missing.
    form.add(readable, value);
  }
}

const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i;
const LINE_END = /[ \t]*\r\n/y;
const BARE_LINE_BREAK = /\r(?!\n)|(?<!\r)\n/;
const DISPOSITION = /^content-disposition:[ \t]*form-data[ \t]*(;.*)$/im;
const PARAMETER = /;[ \t]*([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))[ \t]*/y;

/** Parses `multipart/form-data`, up to the maximum number of fields; file parts are refused, because all fields are texts. */
export function readMultipart(body: Buffer, contentType: string, limits: FormLimits): Form {
  const form = new Reader(limits);
  if (!isUtf8(body)) form.refuse('body', 'The body should be UTF-8.');
  const [, quoted, bare] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted ?? bare;
  if (boundary !== undefined) {
    const delimiter = `\r\n--${boundary}`;
    const text = `\r\n${body.toString('utf8')}`;
    // Text before the first boundary and after the last one is not part of the form.
    let at = text.indexOf(delimiter);
    while (at !== -1) {
      const start = at + delimiter.length;
      if (text.startsWith('--', start)) return form.finish();
      if (!form.begin()) return form.finish();
      at = text.indexOf(delimiter, start);
      if (!addPart(form, text.slice(start, at === -1 ? text.length : at))) break;
    }
  }
  form.refuse('body', 'The body is not valid multipart/form-data.');
  return form.finish();
}

/** Adds one part; false when it is malformed. */
function addPart(form: Reader, part: string): boolean {
  LINE_END.lastIndex = 0;
  if (!LINE_END.test(part)) return false;
  const start = LINE_END.lastIndex;
  const end = part.indexOf('\r\n\r\n', start);
  // A part without headers begins with the empty line.
  if (end === -1 || part.startsWith('\r\n', start)) return false;
  const headers = part.slice(start, end);
  const parameters = BARE_LINE_BREAK.test(headers) ? undefined : readParameters(DISPOSITION.exec(headers)?.[1] ?? '');
  const name = parameters?.get('name');
  if (name === undefined) return false;
  if (parameters?.has('filename')) form.addFile(name);
  else form.add(name, part.slice(end + 4));
  return true;
}

/** Parses `; name="a"; filename="b"`; undefined when any of it is malformed. */
function readParameters(text: string): Map<string, string> | undefined {
  const parameters = new Map<string, string>();
  PARAMETER.lastIndex = 0;
  for (let end = 0; end < text.length; end = PARAMETER.lastIndex) {
    const [, name, quoted, bare] = PARAMETER.exec(text) ?? [];
    if (name === undefined) return undefined;
    parameters.set(name.toLowerCase(), quoted?.replace(/\\(["\\])/g, '$1') ?? bare ?? '');
  }
  return parameters;
}

/** The entries `root[key]…` of a form, named by what the first brackets contain. */
export function entriesBelow(form: Form, root: string): [string, string][] {
  const below: [string, string][] = [];
  for (const [name, value] of form.values) {
    if (name.startsWith(root) && name.charAt(root.length) === '[') {
      const close = name.indexOf(']', root.length);
      below.push([name.slice(root.length + 1, close) + name.slice(close + 1), value]);
    }
  }
  return below;
}

/** The distinct indexes of a list in the names of a form: `root[0][…]`, `root[1][…]`. */
export function positionsIn(names: Iterable<string>, root: string): string[] {
  const positions = new Set<string>();
  for (const name of names) {
    if (name.startsWith(root) && name.charAt(root.length) === '[') {
      positions.add(name.slice(root.length + 1, name.indexOf(']', root.length)));
    }
  }
  return [...positions];
}
