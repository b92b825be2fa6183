/** The body of a merchant request of either protocol, as the checks and the hash debugger read it. */
import type { Problem } from '../../rules/errors.ts';

export interface RequestBody {
  /** The value of a scalar field, empty when it was not sent. */
  value(name: string): string;
  /** Whether the field arrived as a list or an object. */
  isNested(name: string): boolean;
  /** True only if every field arrived as a single string, so that none is nested or of another type. */
  isFlat(): boolean;
  /** Whether the value arrived as a string, not as a JSON number or boolean. */
  isText(name: string): boolean;
  /** The indexes of a list that was sent as `name[0][…]`, `name[1][…]`. */
  positions(name: string): readonly string[];
  /** The name of every scalar, list and empty object, whatever its value. */
  names(): Iterable<string>;
  /** Every name and value, to search for data that must not be sent. */
  texts(): Iterable<[name: string, value: string]>;
  /** What a hash covers of a card in the request; see `S2sBody`. */
  cardText?: string | undefined;
  /** Problems of the body itself, such as invalid encoding. */
  problems: readonly Problem[];
}
