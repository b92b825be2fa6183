/** A file that a caller downloads, as text that is composed while it is sent. */
export interface Download {
  filename: string;
  chunks: AsyncIterable<string> | Iterable<string>;
  /** About how many rows it has, if that is known without counting them. */
  estimatedRows?: number | undefined;
}
