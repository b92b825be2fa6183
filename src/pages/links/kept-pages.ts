/** Keeps the pages of links that were opened last as they are sent: a page that many payers open is written once. */
import type { Account } from '../../core/context.ts';
import { COMPRESSIONS, type Encoding } from '../compression.ts';

export interface WrittenPage {
  headers: Record<string, string>;
  text: string;
}

interface KeptPage extends WrittenPage {
  account: Account;
  compressed: Partial<Record<Encoding, Promise<Buffer>>>;
}

export interface KeptPages {
  /** The page under this key, written again if the account has changed since. */
  get(key: string, account: Account, write: () => WrittenPage): KeptPage;
  compress(page: KeptPage, encoding: Encoding): Promise<Buffer>;
}

export function createKeptPages(most: number): KeptPages {
  // A Map keeps the order in which its keys were set.
  const pages = new Map<string, KeptPage>();
  return {
    get(key, account, write) {
      const known = pages.get(key);
      const page = known?.account === account ? known : { ...write(), account, compressed: {} };
      pages.delete(key);
      pages.set(key, page);
      if (pages.size > most) pages.delete(pages.keys().next().value as string);
      return page;
    },
    compress(page, encoding) {
      page.compressed[encoding] ??= COMPRESSIONS[encoding](page.text);
      return page.compressed[encoding];
    },
  };
}
