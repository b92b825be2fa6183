/** The simulated world as a program of its own: options from the environment, and no life without its parent. */
import { StartRefusal } from '../src/lib/refusal.ts';
import { openWorld, type WorldOptions } from './world.ts';

function optionsFrom(environment: NodeJS.ProcessEnv): WorldOptions {
  const needed = (name: string): string => {
    const value = environment[name];
    if (!value) throw new StartRefusal(`Set ${name}: the gateway and the sandbox have to agree on it.`);
    return value;
  };
  const port = Number(environment.SANDBOX_PORT || 8081);
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new StartRefusal('SANDBOX_PORT is not a port.');
  return {
    host: environment.SANDBOX_HOST || '127.0.0.1',
    port,
    publicUrl: environment.SANDBOX_PUBLIC_URL?.replace(/\/+$/, ''),
    file: environment.SANDBOX_FILE || undefined,
    key: needed('SANDBOX_KEY'),
    newsSecret: needed('SANDBOX_NEWS_SECRET'),
  };
}

// Whoever started the world may be gone before it is open.
const end = Promise.withResolvers<void>();
for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(event, () => end.resolve());

try {
  const world = await openWorld(optionsFrom(process.env));
  if (!process.send) console.log(`The simulated world is at ${world.url}`);
  else if (process.connected) process.send({ url: world.url });
  await end.promise;
  await world.close();
  process.exit();
} catch (error) {
  console.error(error instanceof StartRefusal ? error.message : error);
  process.exit(1);
}
