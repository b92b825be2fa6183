/** The commands `profile …`: gateways on other machines, by name. */
import { text as readAll } from 'node:stream/consumers';
import { connectAdmin } from './admin-client.ts';
import { askSecret } from './ask-secret.ts';
import { type Call, UsageError } from './command.ts';
import { columns } from './output.ts';
import { readProfiles, writeProfiles } from './profile-file.ts';

const NAME = /^[a-z\d][\w.-]{0,63}$/i;

export async function addProfile(call: Call): Promise<undefined> {
  const { environment, input, output } = call;
  const name = call.arg('name');
  if (!NAME.test(name))
    throw new UsageError('The name of a profile has letters, digits, dots and dashes, such as live.');
  const token = (input.isTTY ? await askSecret(input, 'Admin token or API token: ') : await readAll(input)).trim();
  if (token === '')
    throw new UsageError('The token is missing: write it to standard input, or run this on a terminal.');
  const admin = await connectAdmin({ option: call.option, environment: { TURNPIKE_ADMIN_TOKEN: token } });
  await admin.request('GET', '/admin/api/accounts?limit=1');
  const profiles = await readProfiles(environment);
  await writeProfiles(environment, profiles.set(name, { url: admin.url, token }));
  output.result({ name, url: admin.url }, `The profile ${name} is kept: use it with --profile ${name}.`);
}

export async function listProfiles({ environment, output }: Call): Promise<undefined> {
  const items = [...(await readProfiles(environment))].map(([name, { url }]) => ({ name, url }));
  output.result({ items }, () =>
    items.length === 0 ? 'There are no profiles.' : columns(items.map(({ name, url }) => [name, url])),
  );
}

export async function removeProfile(call: Call): Promise<undefined> {
  const name = call.arg('name');
  const profiles = await readProfiles(call.environment);
  if (!profiles.delete(name))
    throw new UsageError(`There is no profile ${name}. \`turnpike profile list\` lists them.`);
  await writeProfiles(call.environment, profiles);
  call.output.result({ name }, `The profile ${name} is removed.`);
}
