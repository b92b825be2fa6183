/** A page of the docs site. */
import type { Audience } from './chapters.ts';
import type { SearchEntry } from './search.ts';

export interface Heading {
  id: string;
  text: string;
  depth: number;
}

export interface DocsPage {
  path: string;
  title: string;
  audience: Audience;
  /** The long page that this page is a part of. */
  parent?: DocsPage;
  /** The body, with placeholders for the values of the reader. */
  body: string;
  headings: readonly Heading[];
  entries: readonly SearchEntry[];
}
