/** Expected entries of the `errors` list of a refusal, written independently of the product. */
import { expect } from 'vitest';

const MEMBERS = ['error_code', 'error_message', 'param', 'expected', 'hint', 'signed_text', 'link'];

const isSentence = (value: unknown): boolean => typeof value === 'string' && /^\S.*[.?]$/s.test(value);

/**
 * An entry with this message and no other members than the documented ones. It names the field as the message does, or
 * as one of `params`, which is the name that the caller used.
 */
export const entryOf = (message: string, ...params: string[]): unknown =>
  expect.toSatisfy((entry: Record<string, unknown>) => {
    const [field = ''] = message.split(': ');
    const { error_code, error_message, param, expected, hint, link } = entry;
    return (
      error_code === 100000 &&
      error_message === message &&
      (params.length === 0 ? [field] : params).includes(String(param)) &&
      /^https?:\/\/[^/]+\/docs\/[\w./-]+(#[\w-]+)?$/.test(String(link)) &&
      [expected, hint].every((sentence) => sentence === undefined || isSentence(sentence)) &&
      Object.keys(entry).every((name) => MEMBERS.includes(name))
    );
  }, message);

/** The answer to an unknown route or action: the specification's members, and what helps beside them. */
export const UNKNOWN_ROUTE = {
  result: 'ERROR',
  error_code: 0,
  error_message: 'Route or parameters is not supported',
  errors: [],
  hint: expect.toSatisfy(isSentence),
  link: expect.stringMatching(/^https?:\/\/[^/]+\/docs\/[\w#]+$/),
};
