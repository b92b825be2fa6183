/** What an opened wallet token contains, and the rules for which a token is refused. */
import type { KeyObject, X509Certificate } from 'node:crypto';
import type { Secret } from '../crypto/secret.ts';

export type WalletEnvironment = 'TEST' | 'PRODUCTION';

/** What an opened wallet token contains. */
export interface OpenedToken {
  /** The month is `01` to `12`, the year has four digits; the holder is empty when the token does not name one. */
  card: { number: Secret; month: string; year: string; holder: string };
  /** As the token's unsigned part names it, in lower case; empty when it does not. */
  network: string;
  kind: 'CRYPTOGRAM_3DS' | 'PAN_ONLY';
  cryptogram?: Secret;
  eci?: string;
  /** Identifies the token: a second payment with it is a replay. The transaction id (wallet-a) or message id (wallet-b). */
  replayKey: string;
  /** In milliseconds since 1970: from then on the token is refused for its age, and its replay key can be forgotten. */
  validUntil: number;
  /** What the payer agreed to, in minor units, where the token says it (wallet-a). */
  amount?: bigint;
  /** ISO 4217, alphabetic. */
  currency?: string;
}

/** Why a token is refused, by rule; the checks run in the order of `docs/wallets.md`. */
export const TOKEN_RULES = {
  shape: 'A member is missing, has another type or another encoding, or is not known where all members are fixed.',
  version: 'The version of the token is not supported.',
  cms: 'The signature is not a CMS SignedData structure, or bytes follow it.',
  contentType: 'The signed content of the CMS structure is not plain data.',
  attachedContent: 'The CMS structure contains its content; the signature must be detached.',
  signers: 'The CMS structure does not have exactly one signer, or the signer is not the leaf certificate.',
  certificates: 'The CMS structure does not have exactly two certificates, or not exactly one with each marker.',
  digestAlgorithm: 'The digest algorithm is not SHA-256.',
  signatureAlgorithm: 'The signature algorithm is not ECDSA with SHA-256.',
  chain: 'The certificates do not lead to a trusted root, or one of them is not valid at this time.',
  messageDigest: 'The signed digest is not that of the token.',
  rootKey: 'No usable root key signed the intermediate signing key, or in ECv1 the message.',
  intermediateKey: 'The intermediate signing key is not a P-256 key, or has expired.',
  signature: 'The signature of the token is wrong.',
  age: 'The token is too old.',
  future: 'The token was signed in the future.',
  applicationData: 'The application data is not that of the order.',
  processingKey: 'The token is encrypted for a key that the account does not have.',
  ephemeralKey: 'The ephemeral public key is not a point of P-256.',
  decryption: 'The content is not authentic under the keys of the account.',
  content: 'The decrypted content lacks a member, or one has another format.',
  merchant: 'The token was made for another merchant.',
} as const;
export type TokenRule = keyof typeof TOKEN_RULES;

/** Thrown when a token is refused. `rule` names the broken rule; the message never contains token content. */
export class TokenRefused extends Error {
  readonly rule: TokenRule;

  constructor(rule: TokenRule) {
    super(TOKEN_RULES[rule]);
    this.name = 'TokenRefused';
    this.rule = rule;
  }
}

/** Several processing keys are live while a key is replaced. */
export interface WalletAKeys {
  merchantIdentifier: string;
  processingKeys: readonly KeyObject[];
}

/** `recipient` is `gateway:` and the gateway's identifier; several private keys are live while a key is replaced. */
export interface WalletBKeys {
  recipient: string;
  gatewayMerchantId: string;
  privateKeys: readonly KeyObject[];
  environment: WalletEnvironment;
}

/** The trusted root certificates of wallet-a for one environment. */
export type WalletARoots = readonly X509Certificate[];

export interface WalletBRootKey {
  key: KeyObject;
  protocolVersion: string;
  /** In milliseconds since 1970. A key without expiry counts for ECv1 only. */
  expiresAt?: number;
}

/** The root signing keys of wallet-b; a token is checked with those of the account's environment only. */
export type WalletBRoots = Readonly<Record<WalletEnvironment, readonly WalletBRootKey[]>>;
