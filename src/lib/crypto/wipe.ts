/** Overwrites buffers that contain secrets after use; strings cannot be overwritten. */

/** Passes JSON as bytes to a call, and overwrites the bytes when the call has ended or failed. */
export const withJsonBytes = <Result>(json: unknown, use: (bytes: Buffer) => Promise<Result>): Promise<Result> =>
  withBytes(JSON.stringify(json), use);

/** The same for a text. */
export async function withBytes<Result>(text: string, use: (bytes: Buffer) => Promise<Result>): Promise<Result> {
  const bytes = Buffer.from(text);
  try {
    return await use(bytes);
  } finally {
    bytes.fill(0);
  }
}
