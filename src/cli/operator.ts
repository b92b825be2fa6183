/** The command `operator invite`: prints a one-time link with which an operator chooses how it signs in. */
import type { Gateway } from '../core/context.ts';
import { inviteAgain, inviteOperator, readEmail } from '../core/operators/invitations.ts';
import { invitationLink } from '../core/operators/panel-address.ts';
import { commandCaller } from '../core/operators/principal.ts';
import { StartupError } from '../lib/flow/startup-error.ts';
import { INVITABLE_ROLES, type Role } from '../rules/roles.ts';
import type { Config } from '../server/config.ts';
import { baseAddress } from '../server/serve.ts';
import { UsageError } from './command.ts';

export interface WantedInvitation {
  email: string;
  role: Role | undefined;
}

export function readInvitation(typed: string, role: string): WantedInvitation {
  const email = readEmail(typed);
  if (email === undefined) throw new UsageError('<e-mail> should be an e-mail address.');
  return { email, role: INVITABLE_ROLES.find((each) => each === role) };
}

/** An operator who exists gets a new link; without a role, the first operator becomes an owner. */
export async function invite(
  gateway: Gateway,
  config: Config,
  { email, role }: WantedInvitation,
): Promise<{ link: string; note: string }> {
  const by = commandCaller('operator invite');
  const publicUrl = config.publicUrl || baseAddress(config.host, config.port);
  const found = await gateway.operators.findByEmail(email);
  if (found?.state === 'suspended') throw new StartupError(`The operator ${email} is suspended.`);
  if (found && role !== undefined && role !== found.role) {
    throw new StartupError(
      `The operator ${email} has the role ${found.role}: leave the role out, or change it in the panel.`,
    );
  }
  const isFirst = !(await gateway.operatorCredentials.isAnyoneActive());
  const created =
    found ??
    (await inviteOperator(gateway, by, {
      email,
      role: role ?? (isFirst ? 'owner' : 'operator'),
      mids: null,
      refundLimit: null,
    }));
  if (created === 'emailInUse') throw new StartupError(`The operator ${email} was just created: run this again.`);
  const { operator, secret } =
    'secret' in created ? created : { operator: created, secret: await inviteAgain(gateway, by, created) };
  const replaces = operator.state === 'active' ? ' Using it replaces the password and the passkeys.' : '';
  return {
    link: invitationLink(publicUrl, secret.reveal()),
    note: `A one-time link for ${operator.email} (${operator.role}), which works for 7 days.${replaces}`,
  };
}
