/** The roots that wallet tokens are verified with: the pinned ones, and further ones for tests. */
import type { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCertificate, UnusableKey } from './keys.ts';
import type { WalletARoots, WalletBRootKey, WalletBRoots, WalletEnvironment } from './opened.ts';
import { base64In, publicKeyIn, textIn, timeIn } from './reading.ts';

export interface WalletRoots {
  walletA: Readonly<Record<WalletEnvironment, WalletARoots>>;
  walletB: WalletBRoots;
}

const PINNED = join(import.meta.dirname, 'roots');
/** SHA-256 of the pinned root of wallet-a, so that a changed file is noticed. */
const WALLET_A_FINGERPRINT =
  '63:34:3A:BF:B8:9A:6A:03:EB:B5:7E:9B:3F:5F:A7:BE:7C:4F:5C:75:6F:30:17:B3:A8:C4:88:C3:65:3E:91:79';

/**
 * The pinned roots and those of a folder: `wallet-a.pem` with certificates, `wallet-b.json` in the format of the
 * published keys. The roots of the folder count for `TEST` only.
 */
export function readWalletRoots(folder?: string): WalletRoots {
  const pinned = readCertificates(join(PINNED, 'wallet-a.pem'));
  if (pinned.length !== 1 || pinned[0]?.fingerprint256 !== WALLET_A_FINGERPRINT) {
    throw new UnusableKey('roots/wallet-a.pem is not the root certificate of wallet-a.');
  }
  const further = <Root>(name: string, read: (path: string) => Root[]): Root[] => {
    const path = folder === undefined ? undefined : join(folder, name);
    return path !== undefined && existsSync(path) ? read(path) : [];
  };
  return {
    walletA: { PRODUCTION: pinned, TEST: [...pinned, ...further('wallet-a.pem', readCertificates)] },
    walletB: {
      PRODUCTION: readRootKeys(join(PINNED, 'wallet-b.production.json')),
      TEST: [...readRootKeys(join(PINNED, 'wallet-b.test.json')), ...further('wallet-b.json', readRootKeys)],
    },
  };
}

function readCertificates(path: string): X509Certificate[] {
  const blocks = readFileSync(path, 'utf8').match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
  if (blocks.length === 0) throw new UnusableKey(`${path} contains no certificate.`);
  return blocks.map(readCertificate);
}

function readRootKeys(path: string): WalletBRootKey[] {
  try {
    return rootKeysIn(readFileSync(path, 'utf8'));
  } catch {
    throw new UnusableKey(`${path} is not a file of root signing keys.`);
  }
}

/** Root signing keys in the published format. Keys of versions that are not supported are kept; they match no token. */
export function rootKeysIn(json: string): WalletBRootKey[] {
  const { keys } = JSON.parse(json);
  return (keys as Record<string, unknown>[]).map(({ keyValue, protocolVersion, keyExpiration }) => ({
    key: publicKeyIn(base64In(keyValue), 'rootKey'),
    protocolVersion: textIn(protocolVersion),
    ...(keyExpiration === undefined ? {} : { expiresAt: timeIn(keyExpiration, 'rootKey') }),
  }));
}

/** When the last usable root of each wallet expires, in milliseconds since 1970; from then on every token is refused. */
export function rootsExpireAt(
  { walletA, walletB }: WalletRoots,
  environment: WalletEnvironment,
): { 'wallet-a': number; 'wallet-b': number } {
  const current = walletB[environment].filter(({ protocolVersion }) => protocolVersion === 'ECv2');
  return {
    'wallet-a': Math.max(0, ...walletA[environment].map(({ validToDate }) => validToDate.getTime())),
    'wallet-b': Math.max(0, ...current.map(({ expiresAt = 0 }) => expiresAt)),
  };
}
