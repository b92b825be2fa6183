/** A file that a caller downloads, as text that is composed while it is sent. */
export interface Download {
  filename: string;
  /** CSV, if it is missing. */
  mediaType?: 'text/csv' | 'application/json' | undefined;
  chunks: AsyncIterable<string> | Iterable<string>;
  /** About how many rows it has, if that is known without counting them. */
  estimatedRows?: number | undefined;
}
