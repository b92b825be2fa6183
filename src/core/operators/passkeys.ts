/** Passkeys (WebAuthn): the options of the browser's calls, and the verification of their results. */
import { LIMITS } from '../../rules/limits.ts';
import type { Passkey } from '../../store/operators/credentials.ts';
import type { Gateway } from '../context.ts';
import { panelOrigins, relyingPartyId } from './panel-address.ts';
import { openValue, sealValue, spendValue } from './sealed-values.ts';

/** Loaded on first use, because loading it takes longer than the rest of the start. */
const library = () => import('@simplewebauthn/server');

/** What a page passes to the browser, and the sealed challenge that the form sends back with the result. */
export interface PasskeyOptions {
  options: object;
  state: string;
}

interface Challenge {
  challenge: string;
  /** The operator that the passkey is for, or whose proof is expected; null if any operator may sign in. */
  operatorId: string | null;
}

/** EdDSA, ES256 and RS256, the algorithms of today's authenticators; the library's default has experimental ones, too. */
const ALGORITHMS = [-8, -7, -257];

const CREATION = 'passkey creation';
const PROOF = 'passkey proof';

const challengeState = (gateway: Gateway, purpose: string, challenge: Challenge): string =>
  sealValue(gateway, purpose, challenge, LIMITS.operatorStepMs);

/** What a challenge is for, so that it is of no use elsewhere: a session or an invitation by its digest, or anyone. */
export type ChallengeHolder = Buffer | null;

const purposeOf = (ceremony: typeof CREATION | typeof PROOF, holder: ChallengeHolder): string =>
  holder === null ? ceremony : `${ceremony} ${holder.toString('hex')}`;

const idBytes = (operatorId: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(operatorId.replaceAll('-', ''), 'hex'));

const credentialDescriptor = ({ credentialId, transports }: Passkey) => ({
  id: credentialId.toString('base64url'),
  transports,
});

export const hasPasskeys = ({ publicUrl }: Pick<Gateway, 'publicUrl'>): boolean =>
  relyingPartyId(publicUrl) !== undefined;

/** The options of `navigator.credentials.create`; undefined if the panel's address does not allow passkeys. */
export async function creationOptions(
  gateway: Gateway,
  holder: ChallengeHolder,
  { operatorId, email, name }: { operatorId: string; email: string; name: string },
  existing: readonly Passkey[] = [],
): Promise<PasskeyOptions | undefined> {
  const rpID = relyingPartyId(gateway.publicUrl);
  if (rpID === undefined) return undefined;
  const { generateRegistrationOptions } = await library();
  const options = await generateRegistrationOptions({
    rpName: 'Turnpike',
    rpID,
    userID: idBytes(operatorId),
    userName: email,
    userDisplayName: name,
    attestationType: 'none',
    excludeCredentials: existing.map(credentialDescriptor),
    supportedAlgorithmIDs: ALGORITHMS,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    timeout: LIMITS.operatorStepMs,
  });
  return {
    options,
    state: challengeState(gateway, purposeOf(CREATION, holder), { challenge: options.challenge, operatorId }),
  };
}

/** A new passkey, and the operator whose id it contains; undefined if the result is not valid or the challenge is old. */
export async function verifyCreation(
  gateway: Gateway,
  holder: ChallengeHolder,
  state: string,
  credential: string,
): Promise<{ operatorId: string; passkey: Omit<Passkey, 'operatorId'> } | undefined> {
  const opened = openValue<Challenge>(gateway, purposeOf(CREATION, holder), state);
  const rpID = relyingPartyId(gateway.publicUrl);
  if (!opened || rpID === undefined || opened.value.operatorId === null) return undefined;
  if (!(await spendValue(gateway, opened))) return undefined;
  const { verifyRegistrationResponse } = await library();
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: JSON.parse(credential),
      expectedChallenge: opened.value.challenge,
      expectedOrigin: panelOrigins(gateway.publicUrl),
      expectedRPID: rpID,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!registrationInfo) return undefined;
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    return {
      operatorId: opened.value.operatorId,
      passkey: {
        credentialId: Buffer.from(id, 'base64url'),
        publicKey: Buffer.from(publicKey),
        counter: BigInt(counter),
        transports: transports.map(String),
        name: registrationInfo.credentialBackedUp ? 'Synced passkey' : 'Passkey',
        createdAt: gateway.clock.real(),
        lastUsedAt: null,
      },
    };
  } catch (error) {
    gateway.log.info({ reason: (error as Error).message }, 'a new passkey was refused');
    return undefined;
  }
}

/** The options of `navigator.credentials.get`: any passkey of the panel, or those of one operator. */
export async function proofOptions(
  gateway: Gateway,
  holder: ChallengeHolder = null,
  operatorId: string | null = null,
): Promise<PasskeyOptions | undefined> {
  const rpID = relyingPartyId(gateway.publicUrl);
  if (rpID === undefined) return undefined;
  const passkeys = operatorId === null ? [] : await gateway.operatorCredentials.listPasskeys(operatorId);
  const { generateAuthenticationOptions } = await library();
  const options = await generateAuthenticationOptions({
    rpID,
    userVerification: 'required',
    allowCredentials: passkeys.map(credentialDescriptor),
    timeout: LIMITS.operatorStepMs,
  });
  return {
    options,
    state: challengeState(gateway, purposeOf(PROOF, holder), { challenge: options.challenge, operatorId }),
  };
}

/** The operator that a passkey proves; undefined if the proof is not valid, or its challenge is old or used. */
export async function verifyProof(
  gateway: Gateway,
  holder: ChallengeHolder,
  state: string,
  credential: string,
): Promise<string | undefined> {
  const opened = openValue<Challenge>(gateway, purposeOf(PROOF, holder), state);
  const rpID = relyingPartyId(gateway.publicUrl);
  if (!opened || rpID === undefined || !(await spendValue(gateway, opened))) return undefined;
  const { operatorCredentials, clock } = gateway;
  const { verifyAuthenticationResponse } = await library();
  try {
    const response = JSON.parse(credential);
    const passkey = await operatorCredentials.findPasskey(Buffer.from(String(response.id), 'base64url'));
    if (!passkey || (opened.value.operatorId !== null && opened.value.operatorId !== passkey.operatorId)) {
      return undefined;
    }
    const { userHandle } = response.response;
    const isOwnHandle = userHandle === Buffer.from(idBytes(passkey.operatorId)).toString('base64url');
    // A discoverable passkey names its operator; it is required when the page did not.
    if (opened.value.operatorId === null ? !isOwnHandle : userHandle && !isOwnHandle) return undefined;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: opened.value.challenge,
      expectedOrigin: panelOrigins(gateway.publicUrl),
      expectedRPID: rpID,
      credential: {
        id: passkey.credentialId.toString('base64url'),
        publicKey: new Uint8Array(passkey.publicKey),
        counter: Number(passkey.counter),
      },
      requireUserVerification: true,
    });
    const { credentialId, operatorId } = passkey;
    const isUsable =
      verified &&
      (await operatorCredentials.usePasskey(credentialId, BigInt(authenticationInfo.newCounter), clock.real()));
    return isUsable ? operatorId : undefined;
  } catch (error) {
    gateway.log.info({ reason: (error as Error).message }, 'a passkey was refused');
    return undefined;
  }
}
