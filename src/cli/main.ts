/** The program: a command, or one of the HTTP processes that the command `serve` starts. */
import cluster from 'node:cluster';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Saves compiling at each start. The folder is inside the program's, because whoever can write to it can change what runs.
enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/turnpike', import.meta.url)));

/** The supervisor has checked the configuration and opened the database. */
async function runWorker(): Promise<void> {
  const handover = (await import('../server/workers.ts')).receiveHandover();
  const { readConfig } = await import('../server/config.ts');
  const { serveAsWorker } = await import('../server/serve.ts');
  await serveAsWorker(readConfig(process.env), await handover);
}

if (cluster.isWorker) {
  await runWorker();
} else {
  const { run } = await import('./run.ts');
  const { env: environment, stdin: input, stdout, stderr, argv } = process;
  process.exitCode = await run(argv.slice(2), { environment, input, stdout, stderr });
}
