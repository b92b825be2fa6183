/** Arrays in PostgreSQL's binary format for batched statements: cheaper to write and to read than quoted literals. */

/** The values of each SQL type that a column of a batched statement can have. */
export interface ArrayValue {
  uuid: string | null;
  text: string | null;
  bytea: Buffer | null;
  /** JSON text. */
  jsonb: string | null;
  int: number | null;
  bigint: bigint | number | null;
  bool: boolean | null;
  /** Milliseconds since 1970. */
  timestamptz: number | null;
}

export type ArrayType = keyof ArrayValue;

/** The object ids of the types, which are the same in every PostgreSQL. */
const TYPE_IDS: Readonly<Record<ArrayType, number>> = {
  bool: 16,
  bytea: 17,
  bigint: 20,
  int: 23,
  text: 25,
  timestamptz: 1184,
  uuid: 2950,
  jsonb: 3802,
};

/** A value that its type cannot represent. It has the code of PostgreSQL for this: only the item of the value fails. */
export class InvalidValue extends Error {
  readonly code = '22P03';

  constructor(type: string) {
    super(`A value is not valid for the type ${type}.`);
  }
}

const INITIAL_BYTES = 64 * 1024;
const KEPT_BYTES = 1024 * 1024;

/** All arrays of a statement are written here, one after another, and then copied once. */
let scratch = Buffer.allocUnsafe(INITIAL_BYTES);
let end = 0;

function reserve(bytes: number): void {
  if (end + bytes <= scratch.length) return;
  const larger = Buffer.allocUnsafe(Math.max(2 * scratch.length, end + bytes));
  scratch.copy(larger, 0, 0, end);
  scratch = larger;
}

function putInt(value: number, at: number): void {
  scratch[at] = value >>> 24;
  scratch[at + 1] = value >>> 16;
  scratch[at + 2] = value >>> 8;
  scratch[at + 3] = value;
}

const TWO_32 = 2 ** 32;

/** Writes an integer of 64 bits that a number can represent. */
function putLong(value: number, at: number): void {
  putInt(Math.floor(value / TWO_32), at);
  putInt(value >>> 0, at + 4);
}

const DASH = 45;
const HEX_DIGITS = new Int8Array(256).fill(-1);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  HEX_DIGITS[digit.charCodeAt(0)] = value;
  HEX_DIGITS[digit.toUpperCase().charCodeAt(0)] = value;
}

/** Where the pairs of digits are in a UUID with dashes. */
const PAIRS = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

function putUuid(text: string): void {
  if (!putUsualUuid(text)) putOtherUuid(text);
}

/** Writes a UUID with its four dashes; returns whether it is one. */
function putUsualUuid(text: string): boolean {
  if (text.length !== 36 || text.charCodeAt(8) !== DASH || text.charCodeAt(23) !== DASH) return false;
  let codes = 0;
  let bytes = 0;
  for (let index = 0; index < 16; index++) {
    const pair = PAIRS[index] as number;
    const first = text.charCodeAt(pair);
    const second = text.charCodeAt(pair + 1);
    codes |= first | second;
    // Negative if one of them is no digit.
    const byte = ((HEX_DIGITS[first] as number) << 4) | (HEX_DIGITS[second] as number);
    bytes |= byte;
    scratch[end + index] = byte;
  }
  if (bytes < 0 || codes > 255 || text.charCodeAt(13) !== DASH || text.charCodeAt(18) !== DASH) return false;
  end += 16;
  return true;
}

/** A UUID with dashes elsewhere, or none. */
function putOtherUuid(text: string): void {
  let digits = 0;
  for (let index = 0; index < text.length && digits <= 32; index++) {
    const code = text.charCodeAt(index);
    if (code === DASH) continue;
    const value = code < 256 ? (HEX_DIGITS[code] as number) : -1;
    if (value < 0) throw new InvalidValue('uuid');
    const at = end + (digits >> 1);
    if (digits++ % 2 === 0) scratch[at] = value << 4;
    else scratch[at] = (scratch[at] as number) | value;
  }
  if (digits !== 32) throw new InvalidValue('uuid');
  end += 16;
}

/** A call into the runtime costs more than a loop over a text this short. */
const SHORT_TEXT = 24;

function putText(text: string): void {
  const { length } = text;
  if (length <= SHORT_TEXT) {
    let index = 0;
    for (; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code > 127) break;
      scratch[end + index] = code;
    }
    if (index === length) {
      end += length;
      return;
    }
  }
  end += scratch.write(text, end);
}

/** How each type writes a value at the end of the scratch buffer, which has space for it. */
const WRITERS: { readonly [Type in ArrayType]: (value: NonNullable<ArrayValue[Type]>) => void } = {
  uuid: putUuid,
  text: putText,
  bytea(bytes) {
    scratch.set(bytes, end);
    end += bytes.length;
  },
  jsonb(json) {
    // The version of the format.
    scratch[end++] = 1;
    putText(json);
  },
  int(value) {
    if (value !== (value | 0)) throw new InvalidValue('int');
    putInt(value, end);
    end += 4;
  },
  bigint(value) {
    const number = Number(value);
    if (Number.isSafeInteger(number)) putLong(number, end);
    else if (typeof value === 'bigint' && BigInt.asIntN(64, value) === value) scratch.writeBigInt64BE(value, end);
    else throw new InvalidValue('bigint');
    end += 8;
  },
  bool(value) {
    scratch[end++] = value ? 1 : 0;
  },
  timestamptz(ms) {
    const whole = Math.trunc(ms) - START_MS;
    if (!Number.isSafeInteger(whole)) throw new InvalidValue('timestamptz');
    const micros = whole * 1000;
    if (Number.isSafeInteger(micros)) putLong(micros, end);
    else scratch.writeBigInt64BE(BigInt(whole) * 1000n, end);
    end += 8;
  },
};

/** PostgreSQL counts from the year 2000. */
const START_MS = Date.UTC(2000, 0, 1);

/** The most bytes of a value of a type of fixed length, with its length. */
const FIXED_BYTES = 24;
/** The most bytes for each unit of a value of a type without a fixed length: a UTF-16 unit has at most three in UTF-8. */
const UNIT_BYTES: Partial<Record<ArrayType, number>> = { text: 3, jsonb: 3, bytea: 1 };

/** Appends an array to the scratch buffer. */
export type ArrayEncoder<Item> = (items: readonly Item[]) => void;

export function arrayEncoder<Item, Type extends ArrayType>(
  type: Type,
  read: (item: Item) => ArrayValue[Type],
): ArrayEncoder<Item> {
  const write = WRITERS[type];
  const id = TYPE_IDS[type];
  const unitBytes = UNIT_BYTES[type];
  return (items) => {
    reserve(20 + FIXED_BYTES * items.length);
    const header = end;
    putInt(items.length === 0 ? 0 : 1, header);
    putInt(0, header + 4);
    putInt(id, header + 8);
    end += 12;
    if (items.length === 0) return;
    putInt(items.length, header + 12);
    putInt(1, header + 16);
    end += 8;
    for (const item of items) {
      const value = read(item);
      if (unitBytes !== undefined)
        reserve(FIXED_BYTES + (value === null ? 0 : unitBytes * (value as string | Buffer).length));
      const start = end;
      end += 4;
      if (value === null) {
        putInt(-1, start);
        // The array has nulls.
        scratch[header + 7] = 1;
      } else {
        write(value);
        putInt(end - start - 4, start);
      }
    }
  };
}

/** The arrays of all columns of a statement. */
export function encodeArrays<Item>(encoders: readonly ArrayEncoder<Item>[], items: readonly Item[]): Buffer[] {
  const ends: number[] = [];
  try {
    for (const encode of encoders) {
      encode(items);
      ends.push(end);
    }
    const bytes = Buffer.allocUnsafe(end);
    scratch.copy(bytes, 0, 0, end);
    return ends.map((stop, index) => bytes.subarray(ends[index - 1] ?? 0, stop));
  } finally {
    end = 0;
    if (scratch.length > KEPT_BYTES) scratch = Buffer.allocUnsafe(INITIAL_BYTES);
  }
}
