/** Reads operators and tokens as they are sent: the name, the role, the accounts and the limit of refunds. */
import { isUuid } from '../../lib/crypto/id.ts';
import { isRefundLimit } from '../../lib/money/refund-limit.ts';
import { isText } from '../../lib/text/json.ts';
import { isPlainText } from '../../lib/text/plain-text.ts';
import { invalidField, type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { isMerchantRole, ROLES, type Role } from '../../rules/roles.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Gateway } from '../context.ts';
import { type NewOperator, OPERATOR_NAME_LENGTH, readEmail } from './invitations.ts';

const MOST_ACCOUNTS = 1000;

export interface ReadAccess {
  role: Role;
  mids: string[] | null;
  refundLimit: string | null;
}

/** What is read of one member: its value, or its problem. */
type Read<Value> = { value: Value } | { problem: Problem };

export function readRole(value: unknown): Read<Role> {
  const role = ROLES.find((one) => one === value);
  return role
    ? { value: role }
    : { problem: { field: 'role', sentence: SENTENCES.notAChoice, expected: `One of ${ROLES.join(', ')}.` } };
}

/** Null means all accounts. */
export function readAccounts(value: unknown): Read<string[] | null> {
  if (value === undefined || value === null) return { value: null };
  const isList =
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MOST_ACCOUNTS &&
    value.every((mid) => typeof mid === 'string' && isUuid(mid));
  if (isList) return { value: [...new Set(value.map((mid) => mid.toLowerCase()))] };
  return { problem: { field: 'mids', sentence: `This value should be a list of 1 to ${MOST_ACCOUNTS} account ids.` } };
}

/** Refuses accounts that do not exist. A restricted caller gets this far with its own accounts only. */
export async function requireAccounts(gateway: Gateway, mids: readonly string[] | null): Promise<void> {
  const found = await Promise.all((mids ?? []).map((mid) => findAccount(gateway, mid)));
  if (found.includes(undefined)) throw invalidField('mids', 'This value should be a list of ids of accounts.');
}

/** Null means no limit. */
export function readRefundLimit(value: unknown): Read<string | null> {
  if (value === undefined || value === null) return { value: null };
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && isRefundLimit(text)) return { value: text };
  const expected = 'A decimal number as a text, such as "50.00", or null for no limit.';
  return { problem: { field: 'refund_limit', sentence: SENTENCES.invalid, expected } };
}

/** Adds the problem of a value to the list; undefined if it has one. */
export function valueOr<Value>(read: Read<Value>, problems: Problem[]): Value | undefined {
  if ('value' in read) return read.value;
  problems.push(read.problem);
  return undefined;
}

/** Reads the members of a new token or operator; its problems are added to the list. */
export function readAccess(body: Record<string, unknown>, problems: Problem[]): ReadAccess {
  const role = valueOr(readRole(body.role), problems);
  const mids = valueOr(readAccounts(body.mids), problems);
  if (role && isMerchantRole(role) && mids === null) {
    const expected = 'The ids of the accounts that the merchant may see, as a list.';
    problems.push({ field: 'mids', sentence: SENTENCES.blank, expected });
  }
  const refundLimit = valueOr(readRefundLimit(body.refund_limit), problems);
  return { role, mids, refundLimit } as ReadAccess;
}

/** Undefined stays undefined. */
export function readName(value: unknown): Read<string | undefined> {
  const isName =
    value === undefined || (isText(value, OPERATOR_NAME_LENGTH) && value.trim() !== '' && isPlainText(value));
  if (isName) return { value: value?.trim() };
  const sentence = `This value should be a text of ${OPERATOR_NAME_LENGTH} characters or less without control characters.`;
  return { problem: { field: 'name', sentence } };
}

/** Reads a new operator from the members of an object, and refuses it with everything that is wrong with it. */
export function readOperator(sent: Record<string, unknown>): NewOperator {
  const problems: Problem[] = [];
  const email = typeof sent.email === 'string' ? readEmail(sent.email) : undefined;
  if (email === undefined) {
    const sentence = sent.email === undefined ? SENTENCES.blank : SENTENCES.invalid;
    problems.push({ field: 'email', sentence, expected: 'An e-mail address, such as ada@example.com.' });
  }
  const name = valueOr(readName(sent.name), problems);
  const access = readAccess(sent, problems);
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  return { email: email as string, name, ...access };
}
