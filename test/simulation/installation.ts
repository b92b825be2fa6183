/** What all runs of a thread share: the database with its account, and the parts of a gateway that have no state. */

import { createAccount } from '../../src/core/accounts/accounts.ts';
import type { Gateway } from '../../src/core/context.ts';
import { openFingerprints } from '../../src/core/installation/installation.ts';
import { createMetrics, type Metrics } from '../../src/core/metrics.ts';
import { commandCaller } from '../../src/core/operators/principal.ts';
import { newMasterKey } from '../../src/lib/crypto/seal.ts';
import { createLog } from '../../src/lib/text/log.ts';
import type { WalletRoots } from '../../src/lib/wallets/roots.ts';
import { readWalletRoots } from '../../src/lib/wallets/roots.ts';
import { openGateway } from '../../src/server/gateway.ts';
import type { Connection } from '../../src/store/database/database.ts';
import { openSimulatedDatabase, type SimulatedDatabase } from './database.ts';

export interface Installation {
  database: SimulatedDatabase;
  masterKey: string;
  fingerprints: Gateway['fingerprints'];
  metrics: Metrics;
  walletRoots: WalletRoots;
  mid: string;
}

/** To be called in real time, before the clocks of the thread are replaced. */
export async function openInstallation(connection: Connection): Promise<Installation> {
  const masterKey = newMasterKey();
  const log = createLog('silent', { write: () => undefined });
  const { gateway, close } = await openGateway({ connection, environment: 'sandbox', masterKey, log });
  const settings = { callback_url: 'https://shop.example/callbacks', requests_per_second: 0 };
  const { account } = await createAccount(gateway, commandCaller('simulate'), 'A Simulated Shop', settings);
  const fingerprints = await openFingerprints(gateway);
  await close();
  const database = await openSimulatedDatabase(connection);
  return {
    database,
    masterKey,
    fingerprints,
    metrics: createMetrics(),
    walletRoots: readWalletRoots(),
    mid: account.mid,
  };
}
