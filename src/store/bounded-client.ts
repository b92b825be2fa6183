/** A client of PostgreSQL that ends in bounded time, and counts as lost when a commit was not replicated. */
import pg from 'pg';
import { UnreplicatedCommit } from '../lib/faults.ts';
import { LIMITS } from '../rules/limits.ts';

/** The function of PostgreSQL that reports a cancelled wait for the standby; the text of the report is translated. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

export class BoundedClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    // The commit is local and may be lost in a failover, but the server reports success: the result counts as lost.
    this.on('notice', ({ routine }) => {
      if (routine !== WAIT_FOR_STANDBY) return;
      // At once, because the success is in the same packet.
      this.connection.emit('error', new UnreplicatedCommit());
      this.connection.stream.destroy();
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: the driver overloads this method
  override end(...args: any[]): any {
    const timer = setTimeout(() => this.connection.stream.destroy(), LIMITS.databaseCloseTimeoutMs).unref();
    this.once('end', () => clearTimeout(timer));
    // biome-ignore lint/suspicious/noExplicitAny: as above
    return (super.end as any)(...args);
  }
}
