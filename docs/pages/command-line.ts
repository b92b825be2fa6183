/** Generates docs/command-line.md: every command with its arguments, options, variables and examples. */
import { type Command, EXIT_CODES } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { aboutArgument, aboutOption, optionText, usageOf } from '../../src/cli/help.ts';
import { optionsOf } from '../../src/cli/parse.ts';
import { code, page, table } from './markdown.ts';

/** The options that every command has are described once. */
const COMMON = ['help', 'json'];

function commandBlocks(command: Command): string[] {
  const { name, summary, details, args = [], examples, json, variables = [] } = command;
  const rows = [
    ...args.map((argument) => [code(`<${argument.name}>`), aboutArgument(argument)]),
    ...optionsOf(command)
      .filter((option) => !COMMON.includes(option.name))
      .map((option) => [code(optionText(option)), aboutOption(option)]),
  ];
  const facts = [
    ...(json
      ? [`${code('--json')} prints ${json === 'lines' ? 'one JSON line per callback' : 'one JSON document'}.`]
      : []),
    ...(variables.length > 0 ? [`Variables: ${variables.map(code).join(', ')}.`] : []),
  ];
  return [
    `### ${name}`,
    [`${summary}.`, ...(details ? [details] : [])].join(' '),
    `\`\`\`sh\n${[...new Set(examples)].map((example) => `turnpike ${example}`.trimEnd()).join('\n')}\n\`\`\``,
    ...(rows.length > 0 ? [`Usage: ${code(usageOf(command))}`, table(['Argument or option', 'Meaning'], rows)] : []),
    facts.join(' '),
  ].filter((block) => block !== '');
}

const INTRODUCTION = `
This page describes the program ${code('turnpike')}: how to start it, what it prints, and all of its commands.
${code('turnpike --help')} and ${code('turnpike <command> --help')} print the same.`;

const START = `
## Start the program

The program is not on the npm registry, and its package is private. The package that the registry has under the name
${code('turnpike')} belongs to another project: do not start the program with npx.

- In a clone, after ${code('npm install')}: ${code('bin/turnpike <command>')}, or ${code('npm run turnpike -- <command>')}.
  ${code('npm run')} prints lines of its own; use ${code('bin/turnpike')} where another program reads the output.
- From any folder: the path of ${code('bin/turnpike')} in the clone. ${code('npm link')} in the clone makes it the command
  ${code('turnpike')}. An installed copy (${code('npm pack')}) does not run, because Node.js runs TypeScript only outside of
  ${code('node_modules')}.
- In the containers of ${code('compose.yaml')}: ${code('docker compose exec gateway turnpike <command>')}.

The examples on this page write ${code('turnpike')} for each of these.

## Where a command works

The commands ${code('account')}, ${code('payment')}, ${code('listen')}, ${code('trigger')} and ${code('explain')} call the
[admin API](operator/admin-api.md) of a running gateway: the one of ${code('--url')}, or of a profile. They read the admin token from
${code('TURNPIKE_ADMIN_TOKEN')}. For a sandbox on the same machine they read it from the file ${code('admin.token')} in
${code('DATA_DIR')}, which the first start of the sandbox writes for its owner only. The token is never an argument, is sent
to no other address, and is not sent over plain http to another machine. An address without ${code('http://')} is completed:
${code('localhost:3000')}, or ${code('3000')} for a port of this machine.

For gateways on other machines, keep a profile: ${code('turnpike profile add live --url https://pay.example.com')} asks for a token,
tries it, and keeps both in ${code('~/.config/turnpike/profiles.json')}, which only you can read. ${code('--profile live')} or
${code('TURNPIKE_PROFILE=live')} then selects the gateway and its token. Use an [API token](operator/access.md) of your own with
the role that you need rather than the admin token of the installation.

The other commands open the database themselves, with the [variables](configuration.md) of the gateway. They also work
while a gateway runs, except ${code('backup --restore')}, and ${code('rotate-keys')} in a sandbox with its key in
${code('DATA_DIR')}. ${code('sign')} needs neither a gateway nor a database.

## Output and exit codes

The result is printed on standard output, and messages and progress on standard error. With ${code('--json')} the result is
JSON.`;

export function commandLine(): string {
  const groups = Map.groupBy(COMMANDS, ({ name }) => name.split(' ')[0] as string);
  return page(
    'Command line',
    'src/cli/commands.ts',
    INTRODUCTION,
    START,
    table(
      ['Exit code', 'Meaning'],
      Object.values(EXIT_CODES).map(([exitCode, about]) => [code(exitCode), about]),
    ),
    '## Commands',
    table(
      ['Command', 'What it does'],
      [...groups].map(([group, commands]) => [
        code(group),
        commands.length === 1 && commands[0]?.name === group
          ? (commands[0]?.summary ?? '')
          : commands.map(({ name }) => `[${name.slice(group.length + 1)}](#${name.replaceAll(' ', '-')})`).join(', '),
      ]),
    ),
    ...COMMANDS.flatMap(commandBlocks),
  );
}
