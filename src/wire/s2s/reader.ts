/** Reads the body of `/post` from its stream: a small one of any sender, a large one only when its first fields allow it. */
import type { IncomingMessage } from 'node:http';
import { environmentOfKey, findAccountByKey } from '../../core/accounts.ts';
import type { Gateway } from '../../core/context.ts';
import type { Budget } from '../../lib/budget.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { S2sAction } from '../../rules/operations.ts';
import { S2S_ACTIONS } from './actions.ts';
import { readBody } from './body.ts';

/** A body larger than usual, and how to give its share of the budget back. */
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
  /** Whether a body that begins like this may be larger than usual. */
  mayBeLarge: (contentType: string, head: Buffer) => Promise<boolean>;
  timeoutMs?: number;
}

type Done = (error: Error | null, body?: Buffer | LargeBody) => void;

/** A refused body is not read to its end: the stream stays paused, and the connection is closed after the answer. */
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
  let most: number = LIMITS.bodyBytes;
  let release: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  const stop = (): void => {
    isOver = true;
    stream.off('data', onData).off('end', onEnd).off('error', onFailure);
    clearTimeout(timer);
  };
  const fail = (error: Error): void => {
    // The sender may have gone while its account was looked up.
    if (isOver) return;
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
    if (length <= most) return;
    if (release) fail(new Refusal('bodyTooLarge'));
    else {
      stream.pause();
      const head = Buffer.concat(chunks, length).subarray(0, LIMITS.bodyBytes);
      mayBeLarge(contentType, head).then(progress, fail);
    }
  };
  const progress = (isAllowed: boolean): void => {
    if (isOver) return;
    most = Number.isNaN(declared) ? LIMITS.bodyBytesMost : declared;
    release = isAllowed ? budget.reserve(most) : undefined;
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

/** Whether the first fields of a body name an account and an action of it that has a long field. */
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
