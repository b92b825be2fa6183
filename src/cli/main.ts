/** The command line: `serve` (the default) and the commands beside it. */

import { createAccount } from '../core/accounts.ts';
import { replaceAdminToken } from '../core/installation.ts';
import { createLog } from '../lib/log.ts';
import { StartupError } from '../lib/startup-error.ts';
import { ACCOUNT_NAME_LENGTH, isAccountName } from '../rules/settings.ts';
import { boot } from '../server/boot.ts';
import { type Config, readConfig, VARIABLES } from '../server/config.ts';
import { isWorker, serve, serveAsWorker } from '../server/serve.ts';
import { receiveHandover } from '../server/workers.ts';
import { verifyAt } from '../store/verify.ts';
import { listen } from './listen.ts';
import { rotate } from './rotate-keys.ts';

interface Command {
  about: string;
  /** It runs no gateway and opens no database, so how one would be run here does not matter. */
  isRemote?: boolean;
  /** It reads the words after its name; after any other command they are a mistake. */
  readsWords?: boolean;
  run(config: Config, args: string[]): Promise<void>;
}

/** Opens the installation beside a running gateway, or alone, for as long as a command takes. */
async function within(
  config: Config,
  work: (installation: Awaited<ReturnType<typeof boot>>) => Promise<void>,
): Promise<void> {
  const log = createLog('warn', process.stderr);
  const installation = await boot(config, { log, say: () => undefined, isGateway: false });
  await work(installation).finally(() => installation.close());
}

const print = (text: string): void => void process.stdout.write(`${text}\n`);

const COMMANDS: Record<string, Command> = {
  serve: { about: 'runs the gateway', run: serve },
  migrate: {
    about: 'brings the database to the newest schema and ends',
    run: (config) => within(config, async () => print('The database is up to date.')),
  },
  account: {
    about: 'makes a merchant account: account "<name>"',
    readsWords: true,
    async run(config, [name, ...more]) {
      if (!isAccountName(name) || more.length > 0) {
        throw new StartupError(
          `Say the name of the account in quotes, with ${ACCOUNT_NAME_LENGTH} characters or less: npm run turnpike -- account "My Shop".`,
        );
      }
      await within(config, async ({ gateway }) => {
        const { account, password, callbackSecret } = await createAccount(gateway, name, {});
        print(`mid              ${account.mid}
client_key       ${account.clientKey}
merchant_key     ${account.merchantKey}
password         ${password.reveal()}
callback_secret  ${callbackSecret.reveal()}
The password and the callback secret are shown only this once.`);
      });
    },
  },
  verify: {
    about: 'looks over the whole database and tells what should never be true; ends with code 1 if anything is',
    run: (config) =>
      within(config, async ({ connection }) => {
        const { violations, payments, historyRows } = await verifyAt(connection);
        for (const violation of violations) print(violation);
        if (violations.length > 0) process.exitCode = 1;
        else print(`All checks passed: ${payments} payments, ${historyRows} history rows.`);
      }),
  },
  'rotate-keys': {
    about:
      'puts everything that is sealed under a new key; may be stopped at any time, and goes on when it is run again',
    run: rotate,
  },
  'admin-token': {
    about: 'replaces the generated admin token and shows the new one; a running gateway takes it at its next start',
    run: (config) => within(config, async ({ gateway }) => print(await replaceAdminToken(gateway))),
  },
  listen: {
    about: 'brings the callbacks of a sandbox to your own server: listen --forward http://localhost:3000/callback',
    isRemote: true,
    readsWords: true,
    run: (_config, args) => listen(args, process.env),
  },
  help: {
    about: 'shows this',
    isRemote: true,
    async run() {
      const list = (rows: [string, string][]) => rows.map(([name, about]) => `  ${name.padEnd(31)}${about}`).join('\n');
      print(`turnpike <command>\n\n${list(Object.entries(COMMANDS).map(([name, { about }]) => [name, about]))}\n`);
      print(`Variables\n\n${list(Object.values(VARIABLES).map(({ name, about }) => [name, about]))}`);
    },
  },
};

try {
  if (isWorker()) {
    await serveAsWorker(readConfig(process.env), await receiveHandover());
  } else {
    const [given = 'serve', ...args] = process.argv.slice(2);
    const name = given === '--help' || given === '-h' ? 'help' : given;
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (!command) throw new StartupError(`There is no command ${name}: npm run turnpike -- help lists them.`);
    if (args.length > 0 && !command.readsWords) {
      throw new StartupError(`After ${name} nothing more is expected: npm run turnpike -- help lists the commands.`);
    }
    await command.run(readConfig(command.isRemote ? {} : process.env), args);
  }
} catch (error) {
  process.stderr.write(error instanceof StartupError ? `turnpike: ${error.message}\n` : `${(error as Error).stack}\n`);
  process.exitCode = 1;
}
