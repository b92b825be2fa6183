/** Statements of providers, for tests of reconciliations. */
import { ADMIN_TOKEN, type Answer, type Fields, type TestGateway } from './gateway.ts';

export type StatementBody = string | Buffer<ArrayBuffer> | ReadableStream;

/** Uploads a statement to the admin API. */
export async function uploadStatement(
  { url }: Pick<TestGateway, 'url'>,
  csv: StatementBody,
  query: Fields = {},
  { token = ADMIN_TOKEN, type = 'text/csv' }: { token?: string; type?: string } = {},
): Promise<Answer> {
  const response = await fetch(`${url}/admin/api/reconciliations?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
    body: csv,
    ...(csv instanceof ReadableStream && { duplex: 'half' }),
  });
  return { status: response.status, body: await response.json(), headers: response.headers };
}
