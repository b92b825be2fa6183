/** The command line of the provider simulator: reads the environment, and stops when its parent process does. */
import { StartupError } from '../src/lib/flow/startup-error.ts';
import { type SimulatorOptions, startSimulator } from './server.ts';

function readOptions(environment: NodeJS.ProcessEnv): SimulatorOptions {
  const required = (name: string): string => {
    const value = environment[name];
    if (!value) throw new StartupError(`Set ${name} to the value that the gateway uses.`);
    return value;
  };
  const port = Number(environment.SIMULATOR_PORT || 8081);
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new StartupError('SIMULATOR_PORT is not a port.');
  return {
    host: environment.SIMULATOR_HOST || '127.0.0.1',
    port,
    publicUrl: environment.SIMULATOR_PUBLIC_URL?.replace(/\/+$/, ''),
    file: environment.SIMULATOR_FILE || undefined,
    key: required('SIMULATOR_KEY'),
    notificationSecret: required('SIMULATOR_NOTIFICATION_SECRET'),
  };
}

// Registered before the start, because the parent may stop while the simulator starts.
const stopped = Promise.withResolvers<void>();
for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(event, () => stopped.resolve());

try {
  const simulator = await startSimulator(readOptions(process.env));
  if (!process.send) console.log(`The provider simulator is at ${simulator.url}`);
  else if (process.connected) process.send({ url: simulator.url });
  await stopped.promise;
  await simulator.close();
  process.exit();
} catch (error) {
  console.error(error instanceof StartupError ? error.message : error);
  process.exit(1);
}
