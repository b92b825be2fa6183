/** Invitations: one-time links with which operators choose how they sign in, for the first time or again. */
import { hash } from 'node:crypto';
import { newId, newSecret } from '../../lib/crypto/id.ts';
import { Secret } from '../../lib/crypto/secret.ts';
import { isMailAddress } from '../../rules/contacts.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isAllowed, type Role } from '../../rules/roles.ts';
import type { NewCredentials, NotAccepted } from '../../store/operators/credentials.ts';
import type { Invitation, NewLink } from '../../store/operators/links.ts';
import type { Operator } from '../../store/operators/operators.ts';
import type { Gateway } from '../context.ts';
import type { Client } from './attempts.ts';
import { creationOptions, type PasskeyOptions, verifyCreation } from './passkeys.ts';
import { hashPassword, type PasswordProblem, passwordProblem } from './passwords.ts';
import { auditEntry, type Caller, covers } from './principal.ts';
import { openValue, sealValue } from './sealed-values.ts';
import { newRecoveryCodes, newTotpSeed, recoveryDigest, sealTotpSeed, totpStep } from './totp.ts';

const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');

export const OPERATOR_NAME_LENGTH = 100;

/** An e-mail address as it is stored; undefined if the text is none. */
export function readEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase();
  return isMailAddress(email) ? email : undefined;
}

export interface NewOperator {
  /** As `readEmail` returns it. */
  email: string;
  role: Role;
  /** The accounts that the operator may see; null means all. */
  mids: string[] | null;
  /** A decimal number; null for no limit. */
  refundLimit: string | null;
  /** Without one, the first part of the e-mail address, until the operator says its own. */
  name?: string | undefined;
}

function newLink(
  gateway: Gateway,
  by: Caller,
  operatorId: string | null,
  after: Record<string, unknown>,
): { secret: Secret; link: NewLink } {
  const secret = newSecret(32);
  const createdAt = gateway.clock.real();
  const expiresAt = createdAt + LIMITS.operatorInvitationMs;
  const audit = auditEntry(gateway, by, 'operators.invite', { subject: operatorId, after });
  const invitation = { operatorId, expiresAt, invitedBy: by.id };
  return { secret: new Secret(secret), link: { digest: digestOf(secret), invitation, createdAt, audit } };
}

async function createLink(...[gateway, ...rest]: Parameters<typeof newLink>): Promise<Secret> {
  const { secret, link } = newLink(gateway, ...rest);
  await gateway.operatorCredentials.insertInvitation(link);
  return secret;
}

/** Creates an operator and its link; the secret of the link is returned this once. */
export async function inviteOperator(
  gateway: Gateway,
  by: Caller,
  { email, role, mids, refundLimit, name = email.split('@')[0] as string }: NewOperator,
): Promise<{ operator: Operator; secret: Secret } | 'emailInUse'> {
  const operator: Operator = {
    operatorId: newId(),
    email,
    name,
    role,
    mids,
    refundLimit,
    state: 'invited',
    createdAt: gateway.clock.real(),
    lastSignedInAt: null,
  };
  const after = { email, role, mids, refund_limit: refundLimit };
  const entry = auditEntry(gateway, by, 'operators.create', { subject: operator.operatorId, after });
  const { secret, link } = newLink(gateway, by, operator.operatorId, after);
  return (await gateway.operators.insert(operator, entry, link)) ? { operator, secret } : 'emailInUse';
}

/** A new link for an operator, for one who lost its credentials: using it replaces them all. */
export const inviteAgain = (gateway: Gateway, by: Caller, { operatorId, email }: Operator): Promise<Secret> =>
  createLink(gateway, by, operatorId, { email });

/** A link that creates the first owner; undefined if an operator is active. */
export async function inviteFirstOwner(gateway: Gateway, by: Caller): Promise<Secret | undefined> {
  if (await gateway.operatorCredentials.isAnyoneActive()) return undefined;
  return createLink(gateway, by, null, { role: 'owner' });
}

export interface OpenInvitation {
  /** Undefined if the link creates the first owner. */
  operator: Operator | undefined;
}

/** Whether the maker of a link could still make it: a suspended or demoted operator takes over no other one. */
async function isStillOffered(gateway: Gateway, { invitedBy }: Invitation, operator: Operator): Promise<boolean> {
  if (invitedBy === null) return true;
  const maker = (await gateway.operators.find(invitedBy)) ?? (await gateway.apiTokens.find(invitedBy));
  if (!maker || ('state' in maker && maker.state !== 'active')) return false;
  return isAllowed(maker.role, 'operators.manage') && covers(maker, operator);
}

/** Undefined if the link is not known, has expired or was used, or if its maker may no longer invite the operator. */
export async function openInvitation(gateway: Gateway, secret: string): Promise<OpenInvitation | undefined> {
  const found = await gateway.operatorCredentials.findInvitation(digestOf(secret), gateway.clock.real());
  if (!found || found.operator?.state === 'suspended') return undefined;
  if (found.operator && !(await isStillOffered(gateway, found.invitation, found.operator))) return undefined;
  if (!found.operator && (await gateway.operatorCredentials.isAnyoneActive())) return undefined;
  return { operator: found.operator };
}

/** What the operator says about itself; the e-mail address counts for the first owner only. */
export interface Profile {
  name: string;
  email: string;
}

export type ProfileProblems = Partial<Record<'name' | 'email', 'missing' | 'invalid' | 'inUse'>>;

/** The profile, or what is wrong with it. */
export function readProfile({ operator }: OpenInvitation, typed: Profile): Profile | { problems: ProfileProblems } {
  const name = typed.name.trim().replace(/\s+/g, ' ');
  const email = operator?.email ?? readEmail(typed.email);
  const problems: ProfileProblems = {
    ...(email === undefined && { email: typed.email.trim() === '' ? 'missing' : 'invalid' }),
    ...(name === '' && { name: 'missing' }),
    ...(name.length > OPERATOR_NAME_LENGTH && { name: 'invalid' }),
  };
  return email === undefined || Object.keys(problems).length > 0 ? { problems } : { name, email };
}

async function accept(
  gateway: Gateway,
  secret: string,
  operatorId: string,
  { name, email }: Profile,
  credentials: NewCredentials,
  { address }: Client,
): Promise<Operator | NotAccepted> {
  const by: Caller = { kind: 'operator', id: operatorId, name, address };
  const acceptance = { operatorId, name, email, credentials };
  return gateway.operatorCredentials.accept(digestOf(secret), acceptance, gateway.clock.real(), (before) =>
    auditEntry(gateway, by, 'operators.accept_invitation', {
      subject: operatorId,
      before: before ? { name: before.name, state: before.state } : null,
      after: { email, name, state: 'active', credentials: credentials.kind },
    }),
  );
}

/** The passkey options of an invitation; the browser adds what the operator typed. */
export const invitationPasskeyOptions = (
  gateway: Gateway,
  secret: string,
  { operator }: OpenInvitation,
): Promise<PasskeyOptions | undefined> =>
  creationOptions(gateway, digestOf(secret), operator ?? { operatorId: newId(), email: 'Turnpike', name: '' });

export async function acceptWithPasskey(
  gateway: Gateway,
  secret: string,
  profile: Profile,
  { state, credential }: { state: string; credential: string },
  client: Client,
): Promise<Operator | NotAccepted | 'refused'> {
  const created = await verifyCreation(gateway, digestOf(secret), state, credential);
  if (!created) return 'refused';
  const credentials = { kind: 'passkey', passkey: created.passkey } as const;
  return accept(gateway, secret, created.operatorId, profile, credentials, client);
}

/** The step between the password and the first code of the authenticator app. */
export interface Setup extends Profile {
  passwordHash: string;
  seed: string;
}

const setupPurpose = (secret: string): string => `setup ${digestOf(secret).toString('hex')}`;

/** Checks a new password; returns the sealed setup, which the form of the next step contains. */
export async function beginSetup(
  gateway: Gateway,
  secret: string,
  profile: Profile,
  password: Secret,
): Promise<{ setup: Setup; sealed: string } | PasswordProblem> {
  const problem = passwordProblem(password, profile);
  if (problem) return problem;
  const setup = { ...profile, passwordHash: await hashPassword(password), seed: newTotpSeed() };
  return { setup, sealed: sealValue(gateway, setupPurpose(secret), setup, LIMITS.operatorSetupMs) };
}

/** Undefined if the setup has expired. */
export const openSetup = (gateway: Gateway, secret: string, sealed: string): Setup | undefined =>
  openValue<Setup>(gateway, setupPurpose(secret), sealed)?.value;

/** Stores the password and the seed once the operator has entered a code of its app. */
export async function acceptWithPassword(
  gateway: Gateway,
  secret: string,
  { operator: invited }: OpenInvitation,
  { name, email, passwordHash, seed }: Setup,
  code: string,
  client: Client,
): Promise<{ operator: Operator; recoveryCodes: readonly string[] } | NotAccepted | 'wrongCode'> {
  const now = gateway.clock.real();
  const step = totpStep(seed, code.replace(/\s/g, ''), now);
  if (step === undefined) return 'wrongCode';
  const operatorId = invited?.operatorId ?? newId();
  const recoveryCodes = newRecoveryCodes();
  const totpSeed = sealTotpSeed(gateway, operatorId, seed);
  const credentials: NewCredentials = {
    kind: 'password',
    password: { passwordHash, totpSeed, totpStep: step, changedAt: now },
    recoveryDigests: recoveryCodes.map((each) => recoveryDigest(gateway, operatorId, each)),
  };
  const operator = await accept(gateway, secret, operatorId, { name, email }, credentials, client);
  return typeof operator === 'string' ? operator : { operator, recoveryCodes };
}
