/** Reads a form with a file: the fields before the file, and the file as it arrives. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import type { Form } from '../lib/text/form.ts';
import { invalidField } from '../rules/errors.ts';
import { LIMITS } from '../rules/limits.ts';

export interface UploadedFile {
  name: string;
  /** Throws a refusal if the form ends within the file. */
  content: AsyncIterable<Buffer>;
}

export interface UploadForm extends Form {
  file: UploadedFile | undefined;
  /** Skips what was not read of the body, so that the connection can be used again. */
  skipRest(): void;
}

/** The content type parser of forms with one file, which has to be their last field. */
export function readUpload(
  { headers }: Pick<IncomingMessage, 'headers'>,
  stream: IncomingMessage,
  done: (error: Error | null, form?: UploadForm) => void,
): void {
  const values = new Map<string, string>();
  let isAnswered = false;
  const answer: typeof done = (error, form) => {
    if (!isAnswered) done(error, form);
    isAnswered = true;
  };
  const fail = (): void => answer(Object.assign(new Error('The form is not valid.'), { statusCode: 400 }));
  let parser: BusboyInstance;
  try {
    parser = new Busboy({
      headers: headers as BusboyHeaders,
      limits: { files: 1, fields: LIMITS.formFields, fieldSize: LIMITS.bodyBytes },
    });
  } catch {
    fail();
    return;
  }
  let opened: Readable | undefined;
  const skipRest = (): void => {
    stream.unpipe(parser);
    stream.resume();
  };
  const breakOff = (): void => {
    if (!stream.complete) opened?.destroy(new Error('The upload broke off.'));
  };
  parser.on('field', (name: string, value: string) => values.set(name, value));
  parser.once('file', (_field: string, content: Readable, name = '') => {
    opened = content;
    // The file of a request that is refused has no reader, and an error that nothing listens to would end the process.
    content.on('error', () => undefined);
    answer(null, { values, problems: [], file: { name, content: chunksOf(content) }, skipRest });
  });
  parser.once('finish', () => {
    if (!opened) answer(null, { values, problems: [], file: undefined, skipRest });
  });
  parser.on('error', (error: Error) => {
    if (opened) opened.destroy(error);
    else fail();
  });
  stream.once('close', breakOff).once('error', breakOff);
  stream.pipe(parser);
  // The parser says nothing about a part whose head does not end; what it can read of a form, it has read by then.
  stream.once('end', () => setImmediate(fail));
}

async function* chunksOf(content: Readable): AsyncGenerator<Buffer, void> {
  try {
    yield* content as AsyncIterable<Buffer>;
  } catch {
    throw invalidField('file', 'The upload broke off. Send the file again.');
  }
}

/** The content of a file, up to the first byte beyond the limit. */
export async function readFile({ content }: UploadedFile, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of content) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > most) break;
  }
  return Buffer.concat(chunks).subarray(0, most + 1);
}
