/** The command `operator invite`: prints a one-time link with which an operator chooses how it signs in. */
import type { Gateway } from '../core/context.ts';
import { readOperator } from '../core/operators/access-input.ts';
import { inviteAgain, readEmail } from '../core/operators/invitations.ts';
import { inviteOperatorAs } from '../core/operators/manage.ts';
import { invitationLink } from '../core/operators/panel-address.ts';
import { commandCaller } from '../core/operators/principal.ts';
import { StartupError } from '../lib/flow/startup-error.ts';
import type { Config } from '../server/config.ts';
import { baseAddress } from '../server/serve.ts';
import { type Call, UsageError } from './command.ts';
import { explain, SYSTEM } from './connection.ts';

export interface WantedInvitation {
  email: string;
  /** Empty if it was not typed. */
  role: string;
  /** The values of a new operator, as the admin API names them; undefined if they were not typed. */
  values: { name: string | undefined; mids: string[] | undefined; refund_limit: string | undefined };
}

export function readInvitation({ arg, option }: Pick<Call, 'arg' | 'option'>): WantedInvitation {
  const email = readEmail(arg('e-mail'));
  if (email === undefined) throw new UsageError('<e-mail> should be an e-mail address.');
  const role = arg('role');
  const mids = option('mids')
    ?.split(',')
    .map((mid) => mid.trim());
  if (mids && role === '') throw new UsageError('--mids needs a role.');
  return { email, role, values: { name: option('name'), mids, refund_limit: option('refund-limit') } };
}

/** An operator who exists gets a new link; without a role, the first operator becomes an owner. */
export async function invite(
  gateway: Gateway,
  config: Config,
  { email, role, values }: WantedInvitation,
): Promise<{ link: string; note: string }> {
  const by = commandCaller('operator invite');
  const publicUrl = config.publicUrl || baseAddress(config.host, config.port);
  const found = await gateway.operators.findByEmail(email);
  if (found?.state === 'suspended') throw new StartupError(`The operator ${email} is suspended.`);
  if (found && role !== '' && role !== found.role) {
    throw new StartupError(
      `The operator ${email} has the role ${found.role}: leave the role out, or change it in the panel.`,
    );
  }
  if (found && Object.values(values).some((value) => value !== undefined)) {
    throw new StartupError(
      `The operator ${email} exists: leave the options out, or change the name, the accounts and the limit in the panel.`,
    );
  }
  const create = async () => {
    const isFirst = !(await gateway.operatorCredentials.isAnyoneActive());
    const wanted = { email, role: role || (isFirst ? 'owner' : 'operator'), ...values };
    return inviteOperatorAs(gateway, SYSTEM, by, readOperator(wanted));
  };
  const created = found ?? (await create().catch(explain));
  if (created === 'emailInUse') throw new StartupError(`The operator ${email} was just created: run this again.`);
  const { operator, secret } =
    'secret' in created ? created : { operator: created, secret: await inviteAgain(gateway, by, created) };
  const replaces = operator.state === 'active' ? ' Using it replaces the password and the passkeys.' : '';
  return {
    link: invitationLink(publicUrl, secret.reveal()),
    note: `A one-time link for ${operator.email} (${operator.role}), which works for 7 days.${replaces}`,
  };
}
