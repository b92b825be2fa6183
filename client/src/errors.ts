/** The errors that the client throws, one class for each way to handle them. */
import { ERRORS } from './generated.ts';

/** Why a request was refused: a name for each error of the gateway, or `unknown` for one that this version does not list. */
export type ErrorReason = (typeof ERRORS)[number]['name'] | 'connection' | 'unknown';

/** What is wrong with one field of a request, and what helps to correct it. */
export interface ErrorProblem {
  /** The field, by the name that the request uses; empty if the gateway did not name it. */
  param: string;
  message: string;
  /** What is accepted, in one sentence. */
  expected?: string;
  /** The mistake that was probably made. */
  hint?: string;
  /** In the sandbox, for a wrong hash: the text that the hash covers, with the password masked. */
  signedText?: string;
  /** The section of the docs. */
  link?: string;
}

export interface ErrorFacts {
  reason: ErrorReason;
  /** The `error_code` of the gateway. */
  code?: number | undefined;
  httpStatus?: number | undefined;
  /** The header `x-request-id`, for questions to the operator of the gateway. */
  requestId?: string | undefined;
  /** What is wrong with each field, by field name. */
  entries?: Readonly<Record<string, string>>;
  problems?: readonly ErrorProblem[];
  /** The section of the docs about the error. */
  link?: string | undefined;
  /** The pause in seconds that the gateway asked for. */
  retryAfter?: number | undefined;
  /** Whether the gateway may have carried out the request although it was not answered with success. */
  mayHaveHappened?: boolean;
  /** The id of the operation: the same call with this id can be repeated at any time. */
  operationId?: string | undefined;
  cause?: unknown;
}

export class TurnpikeError extends Error {
  override readonly name: string = 'TurnpikeError';
  readonly reason: ErrorReason;
  readonly code: number | undefined;
  readonly httpStatus: number | undefined;
  readonly requestId: string | undefined;
  readonly entries: Readonly<Record<string, string>>;
  readonly problems: readonly ErrorProblem[];
  readonly link: string | undefined;
  readonly retryAfter: number | undefined;
  readonly mayHaveHappened: boolean;
  readonly operationId: string | undefined;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.reason = facts.reason;
    this.code = facts.code;
    this.httpStatus = facts.httpStatus;
    this.requestId = facts.requestId;
    this.entries = facts.entries ?? {};
    this.problems = facts.problems ?? [];
    this.link = facts.link;
    this.retryAfter = facts.retryAfter;
    this.mayHaveHappened = facts.mayHaveHappened ?? false;
    this.operationId = facts.operationId;
  }

  /** The first field that is at fault. */
  get param(): string | undefined {
    return this.problems[0]?.param;
  }

  /** What is accepted in that field. */
  get expected(): string | undefined {
    return this.problems[0]?.expected;
  }
}

/** A field is missing or malformed: see `problems`. */
export class InvalidRequestError extends TurnpikeError {
  override readonly name = 'InvalidRequestError';
}
/** The key, the password, the environment or the source address is wrong. */
export class AuthenticationError extends TurnpikeError {
  override readonly name = 'AuthenticationError';
}
/** The `order_id` or the `operation_id` was used before with other content. */
export class DuplicateError extends TurnpikeError {
  override readonly name = 'DuplicateError';
}
/** The payment, order, schedule or token does not exist in this account. */
export class NotFoundError extends TurnpikeError {
  override readonly name = 'NotFoundError';
}
/** The payment or the account does not allow the operation. */
export class StateError extends TurnpikeError {
  override readonly name = 'StateError';
}
/** The gateway cannot process the request at the moment: HTTP 429, 5xx, or a response that is not the gateway's. */
export class UnavailableError extends TurnpikeError {
  override readonly name = 'UnavailableError';
}
/** There was no response: no connection, a broken connection, or a timeout. */
export class ConnectionError extends TurnpikeError {
  override readonly name = 'ConnectionError';
}
/** A callback is not authentic, or its body is not the raw body. */
export class CallbackError extends Error {
  override readonly name = 'CallbackError';
  readonly reason: 'headers' | 'timestamp' | 'signature' | 'body' | 'hash';

  constructor(reason: CallbackError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

const CLASSES = {
  InvalidRequest: InvalidRequestError,
  Authentication: AuthenticationError,
  Duplicate: DuplicateError,
  NotFound: NotFoundError,
  State: StateError,
  Unavailable: UnavailableError,
} as const;

type Kind = keyof typeof CLASSES;

/** The class of an error that this version does not list. */
function kindOf(code: number | undefined, httpStatus: number): Kind {
  if (httpStatus >= 500 || httpStatus === 429 || code === undefined) return 'Unavailable';
  if (code === 101000) return 'NotFound';
  return code === 100000 || code === 0 ? 'InvalidRequest' : 'State';
}

interface Envelope {
  error_code?: unknown;
  error_message?: unknown;
  errors?: unknown;
}

interface Entry {
  error_message?: unknown;
  param?: unknown;
  expected?: unknown;
  hint?: unknown;
  signed_text?: unknown;
  link?: unknown;
}

const KEYS: readonly string[] = ['client_key', 'merchant_key'];

/** The field and the sentence of an entry. */
function splitMessage({ error_message }: Entry): [field: string, sentence: string] {
  const text = String(error_message);
  const at = text.indexOf(': ');
  return at < 0 ? ['', text] : [text.slice(0, at), text.slice(at + 2)];
}

const textMember = <Name extends string>(name: Name, value: unknown): { [Key in Name]?: string } =>
  (typeof value === 'string' ? { [name]: value } : {}) as { [Key in Name]?: string };

function problemOf(entry: Entry): ErrorProblem {
  const [field, message] = splitMessage(entry);
  return {
    param: typeof entry.param === 'string' ? entry.param : field,
    message,
    ...textMember('expected', entry.expected),
    ...textMember('hint', entry.hint),
    ...textMember('signedText', entry.signed_text),
    ...textMember('link', entry.link),
  };
}

/** An error, and whether the gateway certainly did not process the request. */
export interface Failure {
  error: TurnpikeError;
  isNotProcessed: boolean;
}

/** The failure that a response reports; `body` is its JSON object, if it has one. */
export function failureOf(response: Response, body: Envelope | undefined): Failure {
  const { status: httpStatus, headers } = response;
  const code = typeof body?.error_code === 'number' ? body.error_code : undefined;
  const message = typeof body?.error_message === 'string' ? body.error_message : undefined;
  const known = ERRORS.find((row) => row.code === code && row.message === message);
  const list: Entry[] = Array.isArray(body?.errors) ? body.errors : [];
  const entries = Object.fromEntries(list.map(splitMessage));
  const problems = list.map(problemOf);
  const [, help] = /<([^>]+)>; *rel="help"/.exec(headers.get('link') ?? '') ?? [];
  const fields = Object.keys(entries);
  const isKey = fields.length > 0 && fields.every((name) => KEYS.includes(name));
  const kind = isKey ? 'Authentication' : (known?.kind ?? kindOf(code, httpStatus));
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  const isNotProcessed = known ? 'isNotProcessed' in known || httpStatus < 500 : httpStatus >= 300 && httpStatus < 500;
  const text = message ?? `HTTP ${httpStatus} without an error of the gateway.`;
  const listed = Object.entries(entries).map(([name, sentence]) => `${name}: ${sentence}`);
  const error = new CLASSES[kind](listed.length > 0 ? `${text} (${listed.join(' ')})` : text, {
    reason: known?.name ?? 'unknown',
    code,
    httpStatus,
    requestId: headers.get('x-request-id') ?? undefined,
    entries,
    problems,
    link: problems[0]?.link ?? help,
    retryAfter: Number.isFinite(seconds) ? Math.max(0, seconds) : undefined,
    mayHaveHappened: !isNotProcessed,
  });
  return { error, isNotProcessed };
}

interface Fault {
  code?: unknown;
  message?: unknown;
  syscall?: unknown;
  errors?: unknown;
}

/** Whether a request failed before its first byte was sent: no address, no connection, or no trust in the certificate. */
function isNotSent(cause: unknown): boolean {
  const { code, syscall, errors } = (cause ?? {}) as Fault;
  if (Array.isArray(errors) && errors.length > 0) return errors.every(isNotSent);
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true;
  return /^(UND_ERR_CONNECT_TIMEOUT|CERT_|ERR_TLS_CERT|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/.test(String(code));
}

/** The failure of a request without a response; `thrown` is what `fetch` threw. */
export function connectionFailure(thrown: unknown, timeoutMs: number): Failure {
  const { name, cause } = thrown as { name?: string; cause?: Fault };
  const isNotProcessed = isNotSent(cause);
  const why =
    name === 'TimeoutError' ? `no response within ${timeoutMs} ms` : String(cause?.code ?? cause?.message ?? name);
  const message = isNotProcessed
    ? `The gateway cannot be reached (${why}); the request was not sent.`
    : `The connection failed (${why}); the gateway may have received the request.`;
  const error = new ConnectionError(message, { reason: 'connection', mayHaveHappened: !isNotProcessed, cause: thrown });
  return { error, isNotProcessed };
}

/** Adds what is known about all attempts of the request. */
export const withFacts = (
  error: TurnpikeError,
  facts: Pick<ErrorFacts, 'mayHaveHappened' | 'operationId'>,
): TurnpikeError => Object.assign(error, facts);
