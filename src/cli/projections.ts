/** The commands `projections` and `projections rebuild`: how far the tables that are derived from the logs are. */
import type { Gateway } from '../core/context.ts';
import { listProjections, rebuildProjection } from '../core/projections/projections.ts';
import { StartupError } from '../lib/flow/startup-error.ts';
import { UsageError } from './command.ts';
import type { CommandResult } from './connection.ts';
import { columns } from './output.ts';

export async function listedProjections(gateway: Gateway): Promise<CommandResult> {
  const items = (await listProjections(gateway)).map(({ name, position, rowsBehind, secondsBehind, backfilled }) => ({
    name,
    position: { history: Number(position.history), callback_attempts: Number(position.callback_attempts) },
    rows_behind: Number(rowsBehind),
    seconds_behind: secondsBehind,
    backfilled,
  }));
  const rows = items.map(({ name, position, rows_behind, seconds_behind, backfilled }) => [
    name,
    position.history,
    rows_behind,
    Math.round(seconds_behind),
    backfilled === null ? 'complete' : `${Math.floor(backfilled * 100)} %`,
  ]);
  return { value: { items }, text: columns([['name', 'position', 'rows behind', 'seconds', 'backfill'], ...rows]) };
}

export async function rebuiltProjection(gateway: Gateway, name: string): Promise<CommandResult> {
  const isReset = await rebuildProjection(gateway, name);
  if (isReset === undefined)
    throw new UsageError(`There is no projection ${name}. \`turnpike projections\` lists them.`);
  if (!isReset) throw new StartupError(`The projection ${name} is being built for the first time: wait for that.`);
  return {
    value: { name },
    text: `The gateways build the projection ${name} again; \`turnpike projections\` shows how far they are.`,
  };
}
