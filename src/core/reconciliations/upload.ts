/** Receives a statement: stores the file in parts as it arrives, and reads its first rows. */
import { createHash } from 'node:crypto';
import { newId } from '../../lib/crypto/id.ts';
import { CsvProblem, firstCsvRecords } from '../../lib/text/csv-reader.ts';
import { cut } from '../../lib/text/cut.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { DELIMITERS, type DelimiterName, guessDelimiter } from '../../rules/statements.ts';
import type { Reconciliation } from '../../store/reconciliations/reconciliations.ts';
import type { Gateway } from '../context.ts';
import { auditEntry, type Caller } from '../operators/principal.ts';

/** The name without its folder, and without characters that break a line or a header. */
const plainFileName = (name: string): string =>
  cut(
    name
      .replace(/^.*[/\\]/s, '')
      .replaceAll(/[\p{Cc}\p{Cf}"]/gu, '')
      .trim(),
    LIMITS.statementNameLength,
  ) || 'statement.csv';

/** Memory does not grow with the file. A file that is refused, or that breaks off, is not kept. */
export async function storeStatement(
  gateway: Gateway,
  by: Caller,
  name: string,
  chunks: AsyncIterable<Buffer>,
): Promise<Reconciliation> {
  const { reconciliations, clock } = gateway;
  const now = clock.real();
  const reconciliationId = newId();
  const fileName = plainFileName(name);
  await reconciliations.deleteDrafts(now - LIMITS.statementKeptMs);
  await reconciliations.insert({ reconciliationId, fileName, createdAt: now, createdBy: by.name });
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    let part = 0;
    for await (const content of partsOf(chunks)) {
      refuseOtherEncodings(content);
      bytes += content.length;
      if (bytes > LIMITS.statementBytes) throw new Refusal('bodyTooLarge');
      hash.update(content);
      await reconciliations.insertPart(reconciliationId, part++, content);
    }
    if (bytes === 0) throw invalidField('file', 'The file is empty.');
    const digest = hash.digest();
    const after = { file_name: fileName, sha256: digest.toString('hex'), bytes };
    const audit = auditEntry(gateway, by, 'reconciliations.upload', { subject: reconciliationId, after });
    await reconciliations.complete(reconciliationId, digest, bytes, audit);
  } catch (error) {
    await reconciliations.discard(reconciliationId);
    throw error;
  }
  return (await reconciliations.find(reconciliationId)) as Reconciliation;
}

async function* partsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let held: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    length += chunk.length;
    if (length < LIMITS.statementPartBytes) continue;
    yield Buffer.concat(held);
    held = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(held);
}

/** UTF-16, and workbooks, which are ZIP files. */
function refuseOtherEncodings(content: Buffer): void {
  const start = content.toString('latin1', 0, 4);
  if (start.startsWith('PK\x03\x04')) throw invalidField('file', 'Save the workbook as CSV and upload that file.');
  if (/^(?:\xff\xfe|\xfe\xff)/.test(start) || content.includes(0))
    throw invalidField('file', 'The file should be text in UTF-8.');
}

/** The file in its parts. */
export async function* statementParts(
  { reconciliations }: Pick<Gateway, 'reconciliations'>,
  reconciliationId: string,
): AsyncGenerator<Buffer, void> {
  for (let part = 0; ; part++) {
    const content = await reconciliations.part(reconciliationId, part);
    if (!content) return;
    yield content;
  }
}

export interface StatementHead {
  delimiter: DelimiterName;
  /** The names of the columns, and the first rows. */
  header: string[];
  rows: string[][];
}

const SHOWN_ROWS = 3;

/** Without a delimiter it is guessed. Refuses a file that is not CSV. */
export async function requireHead(
  { reconciliations }: Pick<Gateway, 'reconciliations'>,
  reconciliationId: string,
  wanted?: DelimiterName,
): Promise<StatementHead> {
  const text = (await reconciliations.part(reconciliationId, 0))?.toString('utf8') ?? '';
  const delimiter = wanted ?? guessDelimiter(text);
  try {
    const [header = [], ...rows] = firstCsvRecords(text, DELIMITERS[delimiter], SHOWN_ROWS + 1);
    return { delimiter, header, rows };
  } catch (error) {
    if (error instanceof CsvProblem) throw invalidField('file', `Row ${error.line}: ${error.message}`);
    throw error;
  }
}
