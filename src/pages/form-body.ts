/** Reads the form that a browser submits, and overwrites its bytes: they may contain card data or a password. */
import type { IncomingMessage } from 'node:http';
import { type Form, readUrlEncoded } from '../lib/text/form.ts';
import { LIMITS } from '../rules/limits.ts';

const FORM_LIMITS = { fields: LIMITS.formFields, depth: LIMITS.formDepth };

/** Parses a form and overwrites its buffers with zeros. */
export function takeForm(chunks: readonly Buffer[]): Form {
  const bytes = Buffer.concat(chunks);
  try {
    return readUrlEncoded(bytes, FORM_LIMITS);
  } finally {
    for (const chunk of [bytes, ...chunks]) chunk.fill(0);
  }
}

/** The content type parser of the pages; a body above the usual limit is refused. */
export function readForm(
  _request: unknown,
  stream: IncomingMessage,
  done: (error: Error | null, form?: Form) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  const stop = (): void => void stream.off('data', onData).off('end', onEnd).off('error', onError);
  const fail = (error: Error, statusCode: number): void => {
    stop();
    for (const chunk of chunks) chunk.fill(0);
    done(Object.assign(error, { statusCode }));
  };
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    length += chunk.length;
    if (length <= LIMITS.bodyBytes) return;
    stream.pause();
    fail(new Error('The form is too large.'), 413);
  };
  const onEnd = (): void => {
    stop();
    done(null, takeForm(chunks));
  };
  const onError = (error: Error): void => fail(error, 400);
  stream.on('data', onData).on('end', onEnd).on('error', onError);
}
