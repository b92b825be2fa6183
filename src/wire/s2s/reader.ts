/** Reads the body of `/post` from its stream; a body above the usual limit only if its first fields allow it. */
import type { IncomingMessage } from 'node:http';
import { environmentOfKey, findAccountByKey } from '../../core/accounts/accounts.ts';
import type { Gateway } from '../../core/context.ts';
import { readBody } from '../../core/requests/s2s-body.ts';
import type { Budget } from '../../lib/flow/budget.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { S2sAction } from '../../rules/operations.ts';
import { S2S_ACTIONS } from './actions.ts';

/** A body above the usual limit, which holds a share of the memory budget until `release` is called. */
export class LargeBody {
  readonly bytes: Buffer;
  readonly release: () => void;

  constructor(bytes: Buffer, release: () => void) {
    this.bytes = bytes;
    this.release = release;
  }
}

export interface ReaderOptions {
  budget: Budget;
  /** Whether a body with these first bytes may exceed the usual limit. */
  mayBeLarge: (contentType: string, head: Buffer) => Promise<boolean>;
  timeoutMs?: number;
}

type Done = (error: Error | null, body?: Buffer | LargeBody) => void;

/** A refused body is not read to its end: the rest is discarded, and the connection closes after the response. */
export function createBodyReader(options: ReaderOptions) {
  return (request: { headers: IncomingMessage['headers'] }, stream: IncomingMessage, done: Done): void => {
    const declared = Number(request.headers['content-length'] ?? Number.NaN);
    if (declared > LIMITS.bodyBytesMost) done(new Refusal('bodyTooLarge'));
    else readStream(stream, request.headers['content-type'] ?? '', declared, options, done);
  };
}

function readStream(
  stream: IncomingMessage,
  contentType: string,
  declared: number,
  { budget, mayBeLarge, timeoutMs = LIMITS.requestMs }: ReaderOptions,
  done: Done,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  let limit: number = LIMITS.bodyBytes;
  let release: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isFinished = false;

  const stop = (): void => {
    isFinished = true;
    stream.off('data', onData).off('end', onEnd).off('error', onFailure);
    clearTimeout(timer);
  };
  const fail = (error: Error): void => {
    // The client may have disconnected while its account was looked up.
    if (isFinished) return;
    stop();
    stream.pause();
    release?.();
    done(error);
  };
  const onFailure = (error: Error): void => fail(Object.assign(error, { statusCode: 400 }));
  const onEnd = (): void => {
    stop();
    const bytes = Buffer.concat(chunks, length);
    done(null, release ? new LargeBody(bytes, release) : bytes);
  };
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    length += chunk.length;
    if (length <= limit) return;
    if (release) fail(new Refusal('bodyTooLarge'));
    else {
      stream.pause();
      const head = Buffer.concat(chunks, length).subarray(0, LIMITS.bodyBytes);
      mayBeLarge(contentType, head).then(continueLarge, fail);
    }
  };
  const continueLarge = (isAllowed: boolean): void => {
    if (isFinished) return;
    limit = Number.isNaN(declared) ? LIMITS.bodyBytesMost : declared;
    release = isAllowed ? budget.reserve(limit) : undefined;
    if (!isAllowed) fail(new Refusal('bodyTooLarge', [NOT_ANNOUNCED]));
    else if (!release) fail(new Refusal('unavailable', [], LIMITS.largeBodyRetryMs / 1000));
    else {
      timer = setTimeout(() => fail(invalidField('body', TOO_SLOW)), timeoutMs);
      stream.resume();
    }
  };
  stream.on('data', onData).on('end', onEnd).on('error', onFailure);
}

const KIBIBYTES = LIMITS.bodyBytes / 1024;
const NOT_ANNOUNCED = {
  field: 'body',
  sentence: `Only a sale with a long field may be larger than ${KIBIBYTES} KiB, and its action, client_key and brand should stand in the first ${KIBIBYTES} KiB.`,
};
const TOO_SLOW = 'The body did not arrive in time.';

/** Whether the first fields of a body name an existing account and an action that has a long field. */
export async function announcesLongField(gateway: Gateway, contentType: string, head: Buffer): Promise<boolean> {
  const body = readBody(contentType, head);
  const name = body.value('action');
  const accountFields = Object.hasOwn(S2S_ACTIONS, name) ? S2S_ACTIONS[name as S2sAction].accountFields : undefined;
  const key = body.value('client_key');
  if (!accountFields || environmentOfKey(key) !== gateway.environment) return false;
  const account = await findAccountByKey(gateway, 'clientKey', key);
  return (
    account !== undefined &&
    accountFields(gateway, account, body).fields.some(({ lengthMost }) => lengthMost !== undefined)
  );
}
