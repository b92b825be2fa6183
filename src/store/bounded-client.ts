/** A client of PostgreSQL whose end is bounded: when the server does not respond in time, the socket is destroyed. */
import pg from 'pg';
import { LIMITS } from '../rules/limits.ts';

export class BoundedClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: the driver overloads this method
  override end(...args: any[]): any {
    const timer = setTimeout(() => this.connection.stream.destroy(), LIMITS.databaseCloseTimeoutMs).unref();
    this.once('end', () => clearTimeout(timer));
    // biome-ignore lint/suspicious/noExplicitAny: as above
    return (super.end as any)(...args);
  }
}
