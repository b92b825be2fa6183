/** The help of the program, of a group of commands, and of one command, from the table. */
import { VARIABLES } from '../server/config.ts';
import type { Argument, Command, Option } from './command.ts';
import { EXIT_CODES } from './command.ts';
import { ENVIRONMENT_TOPIC, optionsOf } from './parse.ts';

const INDENT = '  ';
const COLUMNS = 100;

/** Lines of at most this many characters, broken at spaces. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** A list of names with their descriptions. */
const listOf = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  const margin = `\n${INDENT}${' '.repeat(width)}`;
  return rows
    .map(([name, about]) => INDENT + name.padEnd(width) + wrapped(about, COLUMNS - width - 2).join(margin))
    .join('\n');
};

const section = (title: string, rows: readonly (readonly [string, string])[]): string[] =>
  rows.length === 0 ? [] : [`${title}\n\n${listOf(rows)}`];

const placeOf = ({ name, isOptional, isList }: Argument): string => {
  const place = `<${name}>${isList ? '…' : ''}`;
  return isOptional ? `[${place}]` : place;
};

export const optionText = ({ name, value }: Option): string => `--${name}${value ? ` ${value}` : ''}`;

/** The line that shows how a command is written. */
export const usageOf = ({ name, args = [], options = [] }: Command): string => {
  const required = options.filter(({ isRequired }) => isRequired).map(optionText);
  const rest = options.some(({ isRequired }) => !isRequired) ? ['[options]'] : [];
  return ['turnpike', name, ...args.map(placeOf), ...required, ...rest].join(' ');
};

/** What an option does, with the values it takes and its default. */
export const aboutOption = ({ about, choices, variable, fallback }: Option): string => {
  const defaults = [variable, fallback].filter((text) => text !== undefined).join(', or ');
  return [
    about,
    ...(choices ? [`: ${choices.join(', ')}`] : []),
    ...(defaults === '' ? [] : [` (default: ${defaults})`]),
  ].join('');
};

export const aboutArgument = ({ about, choices }: Argument): string =>
  choices ? `${about}: ${choices.join(', ')}` : about;

const wholeProgram = (commands: readonly Command[]): string =>
  [
    'turnpike <command>',
    ...section(
      'Commands',
      commands.map(({ name, summary }) => [name, summary]),
    ),
    '`turnpike serve` starts a gateway. `turnpike <command> --help` explains a command, and\n`turnpike help environment` the environment variables.',
    ...section(
      'Exit codes',
      Object.values(EXIT_CODES).map(([code, about]) => [String(code), about]),
    ),
  ].join('\n\n');

const environment = (): string => {
  const names = new Set([...Object.values(VARIABLES).map(({ name }) => name), ...Object.keys(OWN_VARIABLES)]);
  return section(
    'Environment variables',
    [...names].map((name) => [name, aboutVariable(name)]),
  ).join('');
};

const oneCommand = (command: Command): string =>
  [
    usageOf(command),
    [`${command.summary}.`, ...(command.details ? [command.details] : [])].join(' '),
    ...section(
      'Arguments',
      (command.args ?? []).map((argument) => [`<${argument.name}>`, aboutArgument(argument)]),
    ),
    ...section(
      'Options',
      optionsOf(command).map((option) => [optionText(option), aboutOption(option)]),
    ),
    ...section(
      'Variables',
      (command.variables ?? []).map((name) => [name, aboutVariable(name)]),
    ),
    `Examples\n\n${command.examples.map((example) => `${INDENT}turnpike ${example}`.trimEnd()).join('\n')}`,
  ].join('\n\n');

/** Variables of commands that the gateway itself does not read. */
const OWN_VARIABLES: Record<string, string> = {
  TURNPIKE_PROFILE: 'The profile to use when --profile is not given.',
  TURNPIKE_PASSWORD: 'The password of the account; without it, the command asks for it on a terminal.',
  TURNPIKE_ADMIN_TOKEN:
    'The admin token. Default for a sandbox on this machine: the file admin.token in DATA_DIR, which its first start writes.',
};

export const aboutVariable = (name: string): string =>
  OWN_VARIABLES[name] ?? Object.values(VARIABLES).find((variable) => variable.name === name)?.about ?? '';

/** The help on the program (''), a group or a command. */
export function helpText(commands: readonly Command[], topic: string): string {
  if (topic === '') return wholeProgram(commands);
  if (topic === ENVIRONMENT_TOPIC) return environment();
  const command = commands.find(({ name }) => name === topic);
  const verbs = commands.filter(({ name }) => name.startsWith(`${topic} `));
  return [
    ...(command ? [oneCommand(command)] : []),
    ...(verbs.length > 0
      ? [`turnpike ${topic} <command>\n\n${listOf(verbs.map(({ name, summary }) => [name, summary]))}`]
      : []),
  ].join('\n\n');
}
