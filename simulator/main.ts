/** The provider simulator as a program of its own: options from the environment, and no life without its parent. */
import { StartupError } from '../src/lib/startup-error.ts';
import { type SimulatorOptions, startSimulator } from './server.ts';

function optionsFrom(environment: NodeJS.ProcessEnv): SimulatorOptions {
  const needed = (name: string): string => {
    const value = environment[name];
    if (!value) throw new StartupError(`Set ${name}: the gateway and the sandbox have to agree on it.`);
    return value;
  };
  const port = Number(environment.SIMULATOR_PORT || 8081);
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new StartupError('SIMULATOR_PORT is not a port.');
  return {
    host: environment.SIMULATOR_HOST || '127.0.0.1',
    port,
    publicUrl: environment.SIMULATOR_PUBLIC_URL?.replace(/\/+$/, ''),
    file: environment.SIMULATOR_FILE || undefined,
    key: needed('SIMULATOR_KEY'),
    notificationSecret: needed('SIMULATOR_NOTIFICATION_SECRET'),
  };
}

// Whoever started the world may be gone before it is open.
const end = Promise.withResolvers<void>();
for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(event, () => end.resolve());

try {
  const simulator = await startSimulator(optionsFrom(process.env));
  if (!process.send) console.log(`The provider simulator is at ${simulator.url}`);
  else if (process.connected) process.send({ url: simulator.url });
  await end.promise;
  await simulator.close();
  process.exit();
} catch (error) {
  console.error(error instanceof StartupError ? error.message : error);
  process.exit(1);
}
