/** A pool of a test's own connections. */
import pg from 'pg';

/**
 * `end` of the driver returns before the server has closed all connections, so that dropping the database may end one of
 * them, whose error nothing waits for.
 */
export const openPool = (config: pg.PoolConfig): pg.Pool => new pg.Pool(config).on('error', () => undefined);
