/** The command line: `serve`, which is the default, and the other commands. */

import { createAccount } from '../core/accounts.ts';
import { replaceAdminToken } from '../core/installation.ts';
import { commandCaller } from '../core/principal.ts';
import { createLog } from '../lib/log.ts';
import { StartupError } from '../lib/startup-error.ts';
import { ACCOUNT_NAME_LENGTH, isAccountName } from '../rules/settings.ts';
import { boot } from '../server/boot.ts';
import { type Config, readConfig, VARIABLES } from '../server/config.ts';
import { isWorker, serve, serveAsWorker } from '../server/serve.ts';
import { receiveHandover } from '../server/workers.ts';
import { verifyAt } from '../store/verify.ts';
import { runConnection, runRoutes } from './connection.ts';
import { listen } from './listen.ts';
import { invite, readInvitation } from './operator.ts';
import { rotate } from './rotate-keys.ts';

interface Command {
  about: string;
  /** The command opens no installation, so the configuration is not read. */
  isRemote?: boolean;
  /** The command has arguments; for other commands they are an error. */
  hasArguments?: boolean;
  run(config: Config, args: string[]): Promise<void>;
}

/** Opens the installation for the duration of a command; a gateway may run at the same time. */
async function withInstallation(
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
    about: 'migrates the database schema and exits',
    run: (config) => withInstallation(config, async () => print('The database is up to date.')),
  },
  account: {
    about: 'creates a merchant account and prints its secrets once: account "<name>"',
    hasArguments: true,
    async run(config, [name, ...more]) {
      if (!isAccountName(name) || more.length > 0) {
        throw new StartupError(
          `Say the name of the account in quotes, with ${ACCOUNT_NAME_LENGTH} characters or less: npm run turnpike -- account "My Shop".`,
        );
      }
      await withInstallation(config, async ({ gateway }) => {
        const { account, password, callbackSecret } = await createAccount(gateway, commandCaller('account'), name, {});
        print(`mid              ${account.mid}
client_key       ${account.clientKey}
merchant_key     ${account.merchantKey}
password         ${password.reveal()}
callback_secret  ${callbackSecret.reveal()}
The password and the callback secret are shown only this once.`);
      });
    },
  },
  operator: {
    about: 'prints a one-time link for an operator of the panel: operator invite <e-mail> [role]',
    hasArguments: true,
    run: (config, args) => {
      const wanted = readInvitation(args);
      return withInstallation(config, async ({ gateway }) => print(await invite(gateway, config, wanted)));
    },
  },
  connection: {
    about: 'lists, adds and checks connections to providers: connection list | add | check <connection_id>',
    hasArguments: true,
    run: (config, args) => withInstallation(config, async ({ gateway }) => print(await runConnection(gateway, args))),
  },
  routes: {
    about: 'prints or sets the routes of an account: routes <mid> [set]',
    hasArguments: true,
    run: (config, args) => withInstallation(config, async ({ gateway }) => print(await runRoutes(gateway, args))),
  },
  verify: {
    about: 'checks the consistency of the whole database; exits with code 1 if a check fails',
    run: (config) =>
      withInstallation(config, async ({ connection }) => {
        const { violations, payments, historyRows } = await verifyAt(connection);
        for (const violation of violations) print(violation);
        if (violations.length > 0) process.exitCode = 1;
        else print(`All checks passed: ${payments} payments, ${historyRows} history rows.`);
      }),
  },
  'rotate-keys': {
    about: 're-encrypts all sealed data with new keys; if interrupted, run it again to continue',
    run: rotate,
  },
  'admin-token': {
    about: 'replaces the generated admin token and prints it; a running gateway uses it after its next start',
    run: (config) => withInstallation(config, async ({ gateway }) => print(await replaceAdminToken(gateway))),
  },
  listen: {
    about: 'forwards the callbacks of a sandbox to your own server: listen --forward http://localhost:3000/callback',
    isRemote: true,
    hasArguments: true,
    run: (_config, args) => listen(args, process.env),
  },
  help: {
    about: 'lists the commands and the variables',
    isRemote: true,
    async run() {
      const list = (rows: [string, string][]) => rows.map(([name, about]) => `  ${name.padEnd(39)}${about}`).join('\n');
      print(`turnpike <command>\n\n${list(Object.entries(COMMANDS).map(([name, { about }]) => [name, about]))}\n`);
      print(`Variables\n\n${list(Object.values(VARIABLES).map(({ name, about }) => [name, about]))}`);
    },
  },
};

try {
  if (isWorker()) {
    await serveAsWorker(readConfig(process.env), await receiveHandover());
  } else {
    const [first = 'serve', ...args] = process.argv.slice(2);
    const name = first === '--help' || first === '-h' ? 'help' : first;
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (!command) throw new StartupError(`There is no command ${name}: npm run turnpike -- help lists them.`);
    if (args.length > 0 && !command.hasArguments) {
      throw new StartupError(`After ${name} nothing more is expected: npm run turnpike -- help lists the commands.`);
    }
    await command.run(readConfig(command.isRemote ? {} : process.env), args);
  }
} catch (error) {
  process.stderr.write(error instanceof StartupError ? `turnpike: ${error.message}\n` : `${(error as Error).stack}\n`);
  process.exitCode = 1;
}
