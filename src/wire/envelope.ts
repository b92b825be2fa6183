/** The error response that all APIs share. */
import { Overloaded } from '../lib/flow/batch.ts';
import { isOutage } from '../lib/flow/faults.ts';
import { jsonMistake } from '../lib/text/json-mistake.ts';
import { ERRORS, type ErrorName, invalidField, type Problem, Refusal } from '../rules/errors.ts';
import { LIMITS } from '../rules/limits.ts';

/** One entry of `errors`: what is wrong with one field of the request. */
export interface ErrorEntry {
  error_code: number;
  error_message: string;
  /** The field, by the name that the caller used. */
  param: string;
  expected?: string;
  hint?: string;
  signed_text?: string;
  /** The address of the section of the docs. */
  link: string;
}

export interface Envelope {
  result: 'ERROR';
  error_code: number;
  error_message: string;
  errors: ErrorEntry[];
  /** For an unknown route: what was probably meant. */
  hint?: string;
  /** For an unknown route: the address of the section of the docs. */
  link?: string;
}

export const envelope = (error: ErrorName, errors: ErrorEntry[] = []): Envelope => ({
  result: 'ERROR',
  error_code: ERRORS[error].code,
  error_message: ERRORS[error].message,
  errors,
});

/** The entry of a problem; `link` is the address of the section of the docs. */
export const entryOf = (problem: Problem, param: string, link: string): ErrorEntry => ({
  error_code: ERRORS.invalidData.code,
  error_message: `${problem.field}: ${problem.sentence}`,
  param,
  ...(problem.expected && { expected: problem.expected }),
  ...(problem.hint && { hint: problem.hint }),
  ...(problem.signedText !== undefined && { signed_text: problem.signedText }),
  link,
});

/** `text` is the body, if it is at hand. */
export const invalidJson = (text?: string): Refusal =>
  invalidField('body', 'The body is not valid JSON.', { hint: text === undefined ? undefined : jsonMistake(text) });

/** Errors that Fastify raises while it reads a request. */
const SERVER_FAULTS: Record<string, () => Refusal> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new Refusal('bodyTooLarge'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => invalidField('content-type', 'This content type is not supported.'),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => invalidField('body', 'The body should be a JSON object.'),
  FST_ERR_CTP_INVALID_JSON_BODY: () => invalidJson(),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => invalidField('body', 'The body is not as long as its content-length says.'),
};

/** Maps an error to a refusal. An error that is not a refusal is an outage or an internal error. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  const known = SERVER_FAULTS[code ?? ''];
  if (known) return known();
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return invalidField('body', 'The request is not valid.');
  if (error instanceof Overloaded || isOutage(error)) {
    return new Refusal('unavailable', [], LIMITS.overloadRetrySeconds);
  }
  return new Refusal('internal');
}
