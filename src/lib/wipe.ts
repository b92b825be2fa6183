/** Buffers that carry secrets are overwritten as soon as they have been used; strings cannot be. */

/** Hands a JSON text to a call as bytes, and overwrites them when the call has ended, however it ended. */
export async function withJsonBytes<Result>(json: unknown, use: (bytes: Buffer) => Promise<Result>): Promise<Result> {
  const bytes = Buffer.from(JSON.stringify(json));
  try {
    return await use(bytes);
  } finally {
    bytes.fill(0);
  }
}
