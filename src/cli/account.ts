/** The commands `account …`: merchant accounts over the admin API. */
import { text as readAll } from 'node:stream/consumers';
import { isObject } from '../lib/text/json.ts';
import { mostSimilar } from '../lib/text/similar.ts';
import { isSecretSetting, SETTING_NAMES, SETTINGS, type SettingName } from '../rules/settings.ts';
import { connectAdmin } from './admin-client.ts';
import { onlyAccount } from './choose-account.ts';
import { type Call, UsageError } from './command.ts';
import { columns, members } from './output.ts';

interface Account {
  mid: string;
  name: string;
  environment: string;
  suspended: boolean;
  created_at: string;
}

type Page = { items: Account[]; next_cursor: string | null };

const pathOf = (mid: string, action = ''): string => `/admin/api/accounts/${encodeURIComponent(mid)}${action}`;

/** What an account has besides its settings. */
const OWN_MEMBERS = ['name', 'suspended'];

export async function createAccount(call: Call): Promise<undefined> {
  const admin = await connectAdmin(call);
  const settings = await readAssignments(call);
  const { settings: _, ...account } = await admin.request<Record<string, unknown>>('POST', '/admin/api/accounts', {
    name: call.arg('name'),
    ...settings,
  });
  call.output.result(account, () => members(account));
  call.output.note('The password and the callback secret are shown only this once.');
}

export async function listAccounts(call: Call): Promise<undefined> {
  const admin = await connectAdmin(call);
  const items: Account[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const after = cursor === '' ? '' : `&cursor=${cursor}`;
    const page: Page = await admin.request<Page>('GET', `/admin/api/accounts?limit=100${after}`);
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  call.output.result({ items }, () =>
    items.length === 0
      ? 'There are no accounts.'
      : columns(items.map(({ mid, name, suspended }) => [mid, name, suspended ? 'suspended' : ''])),
  );
}

export async function showAccount(call: Call): Promise<undefined> {
  const admin = await connectAdmin(call);
  const mid = call.arg('mid') || (await onlyAccount(admin, '<mid>')).mid;
  print(call, await admin.request('GET', pathOf(mid)));
}

export async function setAccount(call: Call): Promise<undefined> {
  const change = await readAssignments(call);
  if (Object.keys(change).length === 0) {
    throw new UsageError('Say what to set, such as callback_url=https://shop.example/callbacks.');
  }
  const admin = await connectAdmin(call);
  print(call, await admin.request('PATCH', pathOf(call.arg('mid')), change));
}

export async function rotatePassword(call: Call): Promise<undefined> {
  const admin = await connectAdmin(call);
  const rotated = await admin.request<object>('POST', pathOf(call.arg('mid'), '/rotate-password'));
  call.output.result(rotated, () => members(rotated));
  call.output.note('The password is shown only this once.');
}

function print({ output }: Call, { settings, ...account }: Record<string, unknown>): void {
  output.result({ ...account, settings }, () => `${members(account)}\n\n${members(flatten(settings))}`);
}

/** Nested settings under the names that `account set` takes. */
function flatten(settings: unknown, prefix = ''): Record<string, unknown> {
  const entries = Object.entries(isObject(settings) ? settings : {}).flatMap(([name, value]): [string, unknown][] =>
    isObject(value) && !Object.hasOwn(SETTINGS, prefix + name)
      ? Object.entries(flatten(value, `${prefix}${name}.`))
      : [[prefix + name, value]],
  );
  return Object.fromEntries(entries);
}

/** Settings from `name=value` words, or as a JSON object from standard input with the option `--input`. */
async function readAssignments(call: Call): Promise<Record<string, unknown>> {
  const assigned = Object.fromEntries(call.list('setting=value').map(readAssignment));
  if (!call.flag('input')) return assigned;
  let sent: unknown;
  try {
    sent = JSON.parse(await readAll(call.input));
  } catch {
    sent = undefined;
  }
  if (!isObject(sent)) throw new UsageError('Standard input should be a JSON object of settings.');
  return { ...sent, ...assigned };
}

function readAssignment(word: string): [string, unknown] {
  const at = word.indexOf('=');
  const name = at === -1 ? word : word.slice(0, at);
  const isSetting = Object.hasOwn(SETTINGS, name);
  if (!isSetting && !OWN_MEMBERS.includes(name)) {
    const similar = mostSimilar(name, [...SETTING_NAMES, ...OWN_MEMBERS]);
    const meant = similar === undefined ? '' : ` Did you mean ${similar}?`;
    throw new UsageError(`There is no setting of this name.${meant} docs/settings.md lists them.`);
  }
  if (isSetting && isSecretSetting(name as SettingName)) {
    throw new UsageError(`${name} is a secret, and other users of the machine see the arguments: use --input.`);
  }
  if (at === -1) throw new UsageError(`Write ${name}=value.`);
  return [name, readValue(name, word.slice(at + 1))];
}

/** Flags, numbers, lists and objects are JSON; everything else is text. */
function readValue(name: string, text: string): unknown {
  const input = Object.hasOwn(SETTINGS, name) ? SETTINGS[name as SettingName].input : undefined;
  const isJson = name === 'suspended' || ['flag', 'number', 'list', 'pairs', 'json'].includes(String(input));
  if (!isJson || Array.isArray(input)) return text;
  try {
    return JSON.parse(text);
  } catch {
    if (input === 'list') return text.split(',').filter((entry) => entry !== '');
    // The gateway says what it expects.
    return text;
  }
}
