/** The CSV files of lists, and lists that fit into one answer. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { portionsCsv } from '../../core/exports/ledger.ts';
import { needs } from '../bearer.ts';
import { asFile, fileSender } from './send-download.ts';

interface ListParams {
  Params: { mid: string; listId: string };
}
type ListRequest = FastifyRequest<ListParams>;

interface ListFile<Item> {
  guard: Parameters<typeof needs>;
  /** What the name of the file begins with. */
  name: string;
  columns: readonly string[];
  /** The items after the last one that was read, at most so many. */
  read(request: ListRequest, limit: number, last?: Item): Promise<Item[]>;
  /** The values of an item by column, if they are not members of the item. A value that is missing is empty. */
  cells?(item: Item): object;
}

/** Registers the file beside a list. */
export function listFile<Item extends object>(
  app: FastifyInstance,
  gateway: Gateway,
  path: string,
  { guard, name, columns, read, cells = (item) => item }: ListFile<Item>,
): void {
  const sendFile = fileSender(gateway);
  const rowOf = (item: Item): string[] => {
    const values = new Map(Object.entries(cells(item)));
    return columns.map((column) => String(values.get(column) ?? ''));
  };
  app.get<ListParams>(`${path}.csv`, asFile(...guard), async (request, reply) => {
    const rest = (limit: number, last?: Item) => read(request, limit, last);
    return sendFile(reply, await portionsCsv(gateway, name, columns, (item) => [rowOf(item)], rest), request.id);
  });
}

interface WholeList<Item> extends Omit<ListFile<Item>, 'read'> {
  read(request: ListRequest): Promise<Item[]>;
}

/** Registers a list without pages and its file. */
export function wholeList<Item extends object>(
  app: FastifyInstance,
  gateway: Gateway,
  path: string,
  list: WholeList<Item>,
): void {
  app.get<ListParams>(path, needs(...list.guard), async (request) => ({
    items: await list.read(request),
    next_cursor: null,
  }));
  listFile(app, gateway, path, wholly(list));
}

/** All items are read at once. */
export const wholly = <Item>(list: WholeList<Item>): ListFile<Item> => ({
  ...list,
  read: async (request, _limit, last) => (last === undefined ? list.read(request) : []),
});
