/** Forms with a file: a form that ends too early is refused, or its file breaks off; neither waits for ever. */
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { readFile, readUpload, type UploadForm } from '../../src/pages/multipart.ts';

const HEADERS = { 'content-type': 'multipart/form-data; boundary=b' };

/** Reads a body that has arrived completely. */
function read(body: string, headers: Record<string, string> = HEADERS): Promise<UploadForm> {
  const stream = Object.assign(new PassThrough(), { complete: true });
  return new Promise((resolve, reject) => {
    readUpload({ headers }, stream as unknown as IncomingMessage, (error, form) =>
      error ? reject(error) : resolve(form as UploadForm),
    );
    stream.end(body);
  });
}

const field = (name: string, value: string): string =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const FILE = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n';

test('reads the fields and the file', async () => {
  const { values, file } = await read(`${field('a', '1')}${FILE}content\r\n--b--\r\n`);
  expect([values.get('a'), file?.name]).toEqual(['1', 'a.csv']);
  expect(file && (await readFile(file, 100)).toString()).toBe('content');
  expect((await read(`${field('a', '1')}--b--\r\n`)).file).toBeUndefined();
});

describe('refuses', () => {
  test.each<[string, string, Record<string, string>?]>([
    ['a form without a boundary', field('a', '1'), { 'content-type': 'multipart/form-data' }],
    ['an empty body', ''],
    ['a body without parts', 'text'],
    ['the head of a part that does not end', '--b\r\ncontent-disposition: form-data; name="a"\r\n\t\r\n1\r\n--b--\r\n'],
    ['a head that breaks off', '--b\r\ncontent-disp'],
    ['a field that breaks off', '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1'],
  ])('%s', async (_, body, headers) => {
    await expect(read(body, headers)).rejects.toMatchObject({ statusCode: 400 });
  });
});

test('a file that breaks off cannot be read', async () => {
  const { file } = await read(`${FILE}cont`);
  await expect(file && readFile(file, 100)).rejects.toMatchObject({ error: 'invalidData' });
});
