/** Runs statements that are written as text in a transaction of the query builder. */
import { CompiledQuery } from 'kysely';
import type { Client } from '../projections/projection.ts';
import type { Database } from './database.ts';

export const clientOf = (transaction: Database['query']): Client => ({
  query: (({ text, values }: { text: string; values: unknown[] }) =>
    transaction.executeQuery(CompiledQuery.raw(text, values))) as unknown as Client['query'],
});
