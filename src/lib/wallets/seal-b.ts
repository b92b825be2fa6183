/** Makes tokens of wallet-b for the sandbox, under a root key of its own; shares no code with the opening of tokens. */
import {
  createCipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import type { Secret } from '../crypto/secret.ts';

/** The root signing key in PEM, so that it can be stored; the versions that it signs are known from its use. */
export interface WalletBAuthority {
  rootKey: string;
  /** In milliseconds since 1970. */
  expiresAt: number;
}

export interface WalletBPayment {
  number: Secret;
  month: string;
  year: string;
  network: string;
  kind: 'CRYPTOGRAM_3DS' | 'PAN_ONLY';
}

export interface WalletBRecipient {
  recipient: string;
  gatewayMerchantId: string;
  /** The merchant's key, public or private. */
  key: KeyObject;
  version?: 'ECv1' | 'ECv2';
}

const YEAR_MS = 365 * 86_400_000;
const MESSAGE_MS = 7 * 86_400_000;

const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
const publicOf = (key: KeyObject): KeyObject => (key.type === 'private' ? createPublicKey(key) : key);
const spki = (key: KeyObject): Buffer => publicOf(key).export({ format: 'der', type: 'spki' });

export function newWalletBAuthority(now: number): WalletBAuthority {
  return { rootKey: newKey().export({ format: 'pem', type: 'pkcs8' }).toString(), expiresAt: now + 10 * YEAR_MS };
}

/** The root key in the format of the published keys. */
export function publishedKeys({ rootKey, expiresAt }: WalletBAuthority): string {
  const keyValue = spki(createPrivateKey(rootKey)).toString('base64');
  const keys = ['ECv1', 'ECv2'].map((protocolVersion) => ({
    keyValue,
    protocolVersion,
    keyExpiration: String(expiresAt),
  }));
  return JSON.stringify({ keys }, null, 2);
}

/** The signature of texts, each after its length in four bytes. */
function signed(key: KeyObject, ...texts: string[]): string {
  const parts = texts.map((text) => {
    const bytes = Buffer.from(`....${text}`);
    bytes.writeUInt32LE(bytes.length - 4);
    return bytes;
  });
  return sign('sha256', Buffer.concat(parts), key).toString('base64');
}

function encrypted(text: string, recipientKey: KeyObject, keyLength: number): string {
  const ephemeral = newKey();
  const point = spki(ephemeral).subarray(-65);
  const secret = diffieHellman({ privateKey: ephemeral, publicKey: publicOf(recipientKey) });
  const keys = Buffer.from(
    hkdfSync('sha256', Buffer.concat([point, secret]), Buffer.alloc(32), 'Google', keyLength * 2),
  );
  const cipher = createCipheriv(`aes-${keyLength * 8}-ctr`, keys.subarray(0, keyLength), Buffer.alloc(16));
  const message = Buffer.concat([cipher.update(text), cipher.final()]);
  return JSON.stringify({
    encryptedMessage: message.toString('base64'),
    ephemeralPublicKey: point.toString('base64'),
    tag: createHmac('sha256', keys.subarray(keyLength)).update(message).digest('base64'),
  });
}

/** The payment data for a merchant, as the wallet returns it. */
export function sealWalletB(
  authority: WalletBAuthority,
  { recipient, gatewayMerchantId, key, version = 'ECv2' }: WalletBRecipient,
  { number, month, year, network, kind }: WalletBPayment,
  now: number,
): Record<string, unknown> {
  const cryptogram = { cryptogram: randomBytes(20).toString('base64'), eciIndicator: '05' };
  const content = {
    messageExpiration: String(now + MESSAGE_MS),
    messageId: randomBytes(24).toString('base64url'),
    gatewayMerchantId,
    paymentMethod: 'CARD',
    paymentMethodDetails: {
      ...{ pan: number.reveal(), expirationMonth: Number(month), expirationYear: Number(year), authMethod: kind },
      ...(kind === 'CRYPTOGRAM_3DS' ? cryptogram : {}),
    },
  };
  const rootKey = createPrivateKey(authority.rootKey);
  const signedMessage = encrypted(JSON.stringify(content), key, version === 'ECv2' ? 32 : 16);
  const signer = version === 'ECv2' ? newKey() : rootKey;
  const signedKey = JSON.stringify({
    keyValue: spki(signer).toString('base64'),
    keyExpiration: String(now + MESSAGE_MS),
  });
  const token = {
    protocolVersion: version,
    signature: signed(signer, 'Google', recipient, version, signedMessage),
    ...(version === 'ECv2'
      ? { intermediateSigningKey: { signedKey, signatures: [signed(rootKey, 'Google', version, signedKey)] } }
      : {}),
    signedMessage,
  };
  const lastFour = number.reveal().slice(-4);
  return {
    apiVersion: 2,
    apiVersionMinor: 0,
    paymentMethodData: {
      type: 'CARD',
      description: `${network} •••• ${lastFour}`,
      info: { cardNetwork: network.toUpperCase(), cardDetails: lastFour },
      tokenizationData: { type: 'PAYMENT_GATEWAY', token: JSON.stringify(token) },
    },
  };
}
