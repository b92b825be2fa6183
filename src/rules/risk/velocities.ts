/** Velocities: how many payments, which amount or how many different values the same card, e-mail or address had lately. */
import { isObject } from '../../lib/text/json.ts';
import { invalidField } from '../errors.ts';
import { isRiskField, RISK_FIELD_NAMES, type RiskFieldName } from './fields.ts';

export const MEASURES = ['count', 'amount', 'distinct'] as const;
export const KEY_FIELDS = ['card', 'email', 'ip', 'phone', 'payer_country'] as const;
export const OUTCOMES = ['attempted', 'declined', 'settled'] as const;

export type KeyField = (typeof KEY_FIELDS)[number];
export type Outcome = (typeof OUTCOMES)[number];

export interface Velocity {
  measure: (typeof MEASURES)[number];
  /** The field whose different values are counted. */
  of: RiskFieldName | null;
  by: readonly KeyField[];
  withinMs: number;
  outcome: Outcome;
  /** The currency of the amounts. */
  currency: string | null;
}

/** A velocity to measure: of one account, or of all. */
export interface Measurement {
  velocity: Velocity;
  isOfInstallation: boolean;
}

/** Fields that have too many or too few values to be counted. */
const UNCOUNTED: readonly RiskFieldName[] = ['amount', 'hour', 'is_recurring', 'is_new_card'];
export const COUNTED_FIELDS = RISK_FIELD_NAMES.filter((name) => !UNCOUNTED.includes(name));

/** Fields whose values are found in imported data while a payment is evaluated. */
export const LOOKED_UP_FIELDS: readonly (string | null)[] = ['network', 'bin_country', 'funding', 'ip_country'];

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const LONGEST_MS = 90 * UNITS.d;
const PERIOD = /^([1-9]\d{0,5})([mhd])$/;

const KNOWN = ['measure', 'of', 'by', 'within', 'outcome'];

const choice = <Choice extends string>(choices: readonly Choice[], value: unknown, path: string): Choice => {
  const found = choices.find((one) => one === value);
  if (found === undefined)
    throw invalidField(path, 'The value you selected is not a valid choice.', {
      expected: `One of ${choices.join(', ')}.`,
    });
  return found;
};

function readPeriod(value: unknown, path: string): number {
  const [, digits = '0', unit = 'm'] = PERIOD.exec(typeof value === 'string' ? value : '') ?? [];
  const ms = Number(digits) * UNITS[unit as keyof typeof UNITS];
  if (ms === 0 || ms > LONGEST_MS)
    throw invalidField(path, 'This value is not valid.', {
      expected: 'Minutes, hours or days, up to 90 days, such as 10m, 24h or 30d.',
    });
  return ms;
}

function readKeys(value: unknown, path: string): KeyField[] {
  const expected = `A list of one or two of ${KEY_FIELDS.join(', ')}.`;
  if (!Array.isArray(value) || value.length < 1 || value.length > 2 || new Set(value).size !== value.length)
    throw invalidField(path, 'This value is not valid.', { expected });
  return value.map((key, index) => choice(KEY_FIELDS, key, `${path}[${index}]`)).sort();
}

/** Reads the object `velocity` of a comparison; the refusal names the member at fault. */
export function readVelocity(value: unknown, path: string, currency: string | null): Velocity {
  if (!isObject(value)) throw invalidField(path, 'This value should be an object.');
  const unknown = Object.keys(value).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined)
    throw invalidField(path, 'This object has a member that does not exist.', {
      expected: `Only ${KNOWN.join(', ')}.`,
    });
  const measure = choice(MEASURES, value.measure, `${path}.measure`);
  const { of = null } = value;
  const isCounted = isRiskField(of) && COUNTED_FIELDS.includes(of);
  if (measure === 'distinct' ? !isCounted : of !== null)
    throw invalidField(
      `${path}.of`,
      measure === 'distinct' ? 'This value is not valid.' : 'This value has no meaning here.',
      {
        expected: 'With the measure distinct: a field such as card. Otherwise: nothing.',
      },
    );
  return {
    measure,
    of: of as RiskFieldName | null,
    by: readKeys(value.by, `${path}.by`),
    withinMs: readPeriod(value.within, `${path}.within`),
    outcome: value.outcome === undefined ? 'attempted' : choice(OUTCOMES, value.outcome, `${path}.outcome`),
    currency,
  };
}

/** Two velocities of an account, or of the installation, with the same key are measured once. */
export const velocityKey = ({ measure, of, by, withinMs, outcome, currency }: Velocity): string =>
  [measure, of, by.join('+'), withinMs, outcome, currency].join(' ');
