/** A file that a caller downloads, as text that is composed while it is sent. */
export interface Download {
  filename: string;
  chunks: AsyncIterable<string> | Iterable<string>;
}
