/** The table of faults: each one disturbs the stage for a while and then restores it. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Chance } from '../support/chance.ts';
import type { Database } from './database.ts';
import { type MerchantServer, RECEIVER_FAULTS } from './merchant-server.ts';
import type { Stage } from './stage.ts';

const PROVIDER_FAULTS = [
  ...['timeout_before', 'timeout_after', 'error_500', 'rate_limited', 'duplicate_news', 'late_success'],
  ...['soft_decline', 'pending_operation'],
];

/** A clock may be wrong by this much. */
const SKEW_MOST_MS = 30_000;

/** Longer than a call or a statement may take, so that what was frozen is late. */
const frozenMs = (chance: Chance): number => chance.between(2000, 25_000);

type Fault = (stage: Stage<Database>, merchant: MerchantServer, chance: Chance) => Promise<string>;

export const FAULTS: Readonly<Record<string, Fault>> = {
  async 'kill a gateway process'({ gateways, skewMs }, _merchant, chance) {
    const program = chance.of(gateways);
    const skew = Math.round(chance.between(-SKEW_MOST_MS, SKEW_MOST_MS));
    skewMs.set(program.name, skew);
    program.signal('SIGKILL');
    return `${program.name}; its clock is now off by ${skew} ms`;
  },
  async 'pause a gateway process'({ gateways }, _merchant, chance) {
    const program = chance.of(gateways);
    const ms = frozenMs(chance);
    program.signal('SIGSTOP');
    await pause(ms);
    program.signal('SIGCONT');
    return `${program.name} for ${Math.round(ms)} ms`;
  },
  async 'kill the provider'({ simulator }) {
    simulator.signal('SIGKILL');
    return '';
  },
  async 'pause the provider'({ simulator }, _merchant, chance) {
    const ms = frozenMs(chance);
    simulator.signal('SIGSTOP');
    await pause(ms);
    simulator.signal('SIGCONT');
    return `for ${Math.round(ms)} ms`;
  },
  async 'kill the database'({ database }) {
    await database.restart('SIGKILL');
    return '';
  },
  async 'restart the database'({ database }) {
    await database.restart('SIGINT');
    return '';
  },
  async 'end database connections'({ database }) {
    const client = new pg.Client(database.connection);
    client.on('error', () => undefined);
    // The database may be down at the moment.
    const ended = await client
      .connect()
      .then(() =>
        client.query(`select count(pg_terminate_backend(pid)) as count from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`),
      )
      .catch(() => undefined);
    await client.end().catch(() => undefined);
    return `${ended?.rows[0]?.count ?? 'no'} connections`;
  },
  async 'freeze the connections to the database'({ database }, _merchant, chance) {
    const ms = frozenMs(chance);
    database.relay.freeze();
    await pause(ms);
    database.relay.thaw();
    return `for ${Math.round(ms)} ms`;
  },
  async 'leave the connections to the database half-dead'({ database }) {
    database.relay.abandon();
    return '';
  },
  async 'freeze the connections to the provider'({ providerRelay }, _merchant, chance) {
    const ms = frozenMs(chance);
    providerRelay.freeze();
    await pause(ms);
    providerRelay.thaw();
    return `for ${Math.round(ms)} ms`;
  },
  async 'leave the connections to the provider half-dead'({ providerRelay }) {
    providerRelay.abandon();
    return '';
  },
  async 'cut the connections to the provider'({ providerRelay }) {
    providerRelay.cut();
    return '';
  },
  async 'let the provider fail'({ provider }, _merchant, chance) {
    const fault = { mode: chance.of(PROVIDER_FAULTS), count: chance.upTo(5) };
    // The provider may be down at the moment.
    await provider('POST', '/faults', fault).catch(() => undefined);
    return `${fault.mode}, ${fault.count} times`;
  },
  async 'let the merchants fail'(_stage, merchant, chance) {
    const ms = chance.between(500, 8000);
    const fault = chance.of(RECEIVER_FAULTS);
    merchant.fault = fault;
    await pause(ms);
    merchant.fault = undefined;
    return `${fault} for ${Math.round(ms)} ms`;
  },
  async 'fill the disk of the database'({ database }, _merchant, chance) {
    if (!database.fillDisk) return 'not done: only root may mount a disk for it';
    const ms = chance.between(1000, 6000);
    await database.fillDisk(ms);
    return `for ${Math.round(ms)} ms`;
  },
};
