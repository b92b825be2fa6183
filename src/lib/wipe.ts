/** Overwrites buffers that contain secrets after use; strings cannot be overwritten. */

/** Passes JSON as bytes to a call, and overwrites the bytes when the call has ended or failed. */
export async function withJsonBytes<Result>(json: unknown, use: (bytes: Buffer) => Promise<Result>): Promise<Result> {
  const bytes = Buffer.from(JSON.stringify(json));
  try {
    return await use(bytes);
  } finally {
    bytes.fill(0);
  }
}
