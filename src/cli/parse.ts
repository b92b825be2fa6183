/** Reads a command line with the table of commands. */
import { parseArgs } from 'node:util';
import { isUuid } from '../lib/crypto/id.ts';
import { mostSimilar } from '../lib/text/similar.ts';
import { type Argument, type Call, type Command, type Kind, type Option, UsageError } from './command.ts';

export type Reading =
  | { kind: 'call'; command: Command; call: Omit<Call, 'output' | 'input' | 'environment'>; isJson: boolean }
  | { kind: 'help'; topic: string };

/** The topic of the help that lists the environment variables. */
export const ENVIRONMENT_TOPIC = 'environment';

const JSON_OPTION: Option = { name: 'json', about: 'prints the result as JSON' };
const HELP_OPTION: Option = { name: 'help', about: 'prints this help' };

/** All options of a command. */
export const optionsOf = ({ options = [], json }: Command): Option[] => [
  ...options,
  ...(json ? [{ ...JSON_OPTION, about: `prints the result as ${json === 'lines' ? 'JSON lines' : 'JSON'}` }] : []),
  HELP_OPTION,
];

const CHECKS: Record<Kind, [isValid: (text: string) => boolean, expected: string]> = {
  number: [(text) => /^[1-9]\d{0,8}$/.test(text), 'a whole number of 1 or more'],
  address: [
    (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
    'an http or https address, such as localhost:3000/callback',
  ],
  uuid: [isUuid, 'an id such as 01a1dd06-691f-7000-87fc-b0749d0543ed'],
  seconds: [(text) => secondsOf(text) !== undefined, 'a duration such as 90, 30m, 12h or 31d'],
};

/** Completes an address as people type it: `3000` and `localhost:3000/callback` are on this machine, over http. */
export function completeAddress(text: string): string {
  if (/^\d{1,5}(\/|$)/.test(text)) return `http://localhost:${text}`;
  return /^([\w.-]+|\[[\da-f:.]+\])(:\d+)?(\/|$)/i.test(text) ? `http://${text}` : text;
}

const UNITS: Record<string, number> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };

/** Reads `90`, `30m`, `12h` or `31d`. */
export function secondsOf(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,8})([smhd]?)$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (UNITS[unit] as number);
}

/** The end of a message: what was probably meant, and where to look. */
function advice(typed: string, words: readonly string[], format: (word: string) => string, help: string): string {
  const similar = mostSimilar(typed, words);
  return `${similar === undefined ? '' : ` Did you mean ${format(similar)}?`} \`${help}\` lists them.`;
}

function findCommand(commands: readonly Command[], [first = '', second]: readonly string[]): Command | undefined {
  const names = second === undefined ? [first] : [`${first} ${second}`, first];
  return names.flatMap((name) => commands.filter((command) => command.name === name))[0];
}

const groupNames = (commands: readonly Command[]): string[] => [
  ...new Set(commands.map(({ name }) => name.split(' ')[0] as string)),
];

const verbsOf = (commands: readonly Command[], group: string): string[] =>
  commands.flatMap(({ name }) => (name.startsWith(`${group} `) ? [name.slice(group.length + 1)] : []));

export function readCommandLine(commands: readonly Command[], words: readonly string[]): Reading {
  const [first, ...rest] = words;
  if (first === undefined) return { kind: 'help', topic: '' };
  if (first === 'help' || first === '--help' || first === '-h')
    return { kind: 'help', topic: readTopic(commands, rest) };
  const command = findCommand(commands, words);
  if (command) return readCall(command, words.slice(command.name.split(' ').length));
  const group = first;
  const verbs = verbsOf(commands, group);
  if (verbs.length === 0) {
    throw new UsageError(
      `There is no command ${group}.${advice(group, groupNames(commands), (name) => `\`${name}\``, 'turnpike help')}`,
    );
  }
  const [verb] = rest;
  if (verb === '--help' || verb === '-h') return { kind: 'help', topic: group };
  if (verb === undefined || verb.startsWith('-')) {
    throw new UsageError(
      `After ${group} one of these is expected: ${verbs.join(', ')}. \`turnpike ${group} --help\` explains them.`,
    );
  }
  const help = `turnpike ${group} --help`;
  throw new UsageError(
    `There is no command ${group} ${verb}.${advice(verb, verbs, (name) => `\`${group} ${name}\``, help)}`,
  );
}

function readTopic(commands: readonly Command[], words: readonly string[]): string {
  const topic = words.filter((word) => !word.startsWith('-')).join(' ');
  const topics = ['', ENVIRONMENT_TOPIC, ...groupNames(commands), ...commands.map(({ name }) => name)];
  if (topics.includes(topic)) return topic;
  throw new UsageError(
    `There is no command ${topic}.${advice(topic, topics, (name) => `\`${name}\``, 'turnpike help')}`,
  );
}

function readCall(command: Command, words: readonly string[]): Reading {
  const options = optionsOf(command);
  const { values, positionals } = parse(command, options, words);
  if (values.help) return { kind: 'help', topic: command.name };
  const args = readArguments(command, positionals);
  const texts = new Map<string, string>();
  for (const option of options) {
    const text = values[option.name];
    if (typeof text === 'string') texts.set(option.name, checked(command, `--${option.name}`, option, text));
    else if (option.isRequired) throw wrong(command, `--${option.name} is required: ${option.about}`);
  }
  return {
    kind: 'call',
    command,
    isJson: values.json === true,
    call: {
      command,
      arg: (name) => args.get(name)?.[0] ?? '',
      list: (name) => args.get(name) ?? [],
      option: (name) => texts.get(name),
      number: (name) => (texts.has(name) ? Number(texts.get(name)) : undefined),
      flag: (name) => values[name] === true,
    },
  };
}

const wrong = ({ name }: Command, sentence: string): UsageError =>
  new UsageError(`${sentence}. \`turnpike ${name} --help\` explains the command.`);

function parse(command: Command, options: readonly Option[], words: readonly string[]) {
  const types = Object.fromEntries(
    options.map(({ name, value }) => [
      name,
      { type: value ? 'string' : 'boolean', ...(name === 'help' && { short: 'h' }) } as const,
    ]),
  );
  try {
    return parseArgs({ args: [...words], options: types, allowPositionals: true });
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    const [, typed = ''] = /'(--?[^ '<=]+)/.exec(message) ?? [];
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
      if (typed === '--token') {
        throw wrong(
          command,
          'The admin token is not an option, because other users of the machine see the arguments: set TURNPIKE_ADMIN_TOKEN',
        );
      }
      const names = options.map(({ name }) => name);
      const help = `turnpike ${command.name} --help`;
      const hint = advice(typed.replace(/^-+/, ''), names, (name) => `--${name}`, help);
      throw new UsageError(`${command.name} has no option ${typed}.${hint}`);
    }
    const option = options.find(({ name }) => typed === `--${name}`);
    throw wrong(
      command,
      option?.value ? `${typed} needs a value: ${typed} ${option.value}` : `${typed} takes no value`,
    );
  }
}

function readArguments(command: Command, words: readonly string[]): Map<string, string[]> {
  const wanted: readonly Argument[] = command.args ?? [];
  const found = new Map<string, string[]>();
  let next = 0;
  for (const argument of wanted) {
    const given = argument.isList ? words.slice(next) : words.slice(next, next + 1);
    next += given.length;
    if (given.length === 0 && !argument.isOptional) {
      throw wrong(command, `<${argument.name}> is missing: ${argument.about}`);
    }
    found.set(
      argument.name,
      given.map((text) => checked(command, `<${argument.name}>`, argument, text)),
    );
  }
  if (next === words.length) return found;
  const last = wanted.at(-1);
  throw wrong(command, `After ${last ? `<${last.name}>` : command.name} nothing more is expected`);
}

/** The value itself is not repeated, because it may be a secret at the wrong place. */
function checked(
  { name: command }: Command,
  place: string,
  { kind, choices }: Option | Argument,
  typed: string,
): string {
  const text = kind === 'address' ? completeAddress(typed) : typed;
  if (choices && !choices.includes(text)) {
    const similar = mostSimilar(text, choices);
    const meant = similar === undefined ? '' : ` Did you mean ${similar}?`;
    throw new UsageError(`${place} should be one of ${choices.join(', ')}.${meant}`);
  }
  const [isValid, expected] = kind ? CHECKS[kind] : [() => true, ''];
  if (isValid(text)) return text;
  throw new UsageError(`${place} should be ${expected}. \`turnpike ${command} --help\` explains the command.`);
}
