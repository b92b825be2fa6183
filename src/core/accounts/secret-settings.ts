/** The secret settings of accounts, such as wallet keys: checked when they are saved, sealed, opened for payments. */
import type { KeyObject } from 'node:crypto';
import { boundTo } from '../../lib/crypto/seal.ts';
import { publicKeyHash, readCertificate, readKnownKey } from '../../lib/wallets/keys.ts';
import type { Problem } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isSecretSetting, readSettings, SET, SETTING_NAMES, SETTINGS, type SettingName } from '../../rules/settings.ts';
import { readAnyKey, type WalletAValues, walletAProblems } from '../../rules/wallet-settings.ts';
import type { AccountRow, LockedAccount, SealedSecrets } from '../../store/accounts/accounts.ts';
import type { Account, Gateway } from '../context.ts';

type Settings = AccountRow['settings'];
type Secrets = Pick<Gateway, 'accounts' | 'seal' | 'clock'>;

const bound = (mid: string, name: string): string => boundTo('account_secrets', 'sealed', `${mid} ${name}`);

interface OpenedSetting {
  /** Newest first: two while the previous one stays usable. */
  values: string[];
  /** Until when the previous one is usable. */
  previousUntil?: number;
}

type OpenedSecrets = Partial<Record<SettingName, OpenedSetting>>;

/** The secret settings of an account, in the clear. */
export function openSecrets(
  { seal, clock }: Pick<Gateway, 'seal' | 'clock'>,
  mid: string,
  stored: LockedAccount['secrets'],
): OpenedSecrets {
  const now = clock.now(mid);
  const rows = Object.entries(stored).map(([name, row]) => {
    const open = (sealed: Buffer): string => seal.open(sealed, bound(mid, name));
    const { previousSealed, previousUntil } = row;
    return previousSealed !== null && previousUntil !== null && previousUntil > now
      ? [name, { values: [open(row.sealed), open(previousSealed)], previousUntil }]
      : [name, { values: [open(row.sealed)] }];
  });
  return Object.fromEntries(rows);
}

const readSecrets = async (gateway: Secrets, mid: string): Promise<OpenedSecrets> =>
  openSecrets(gateway, mid, await gateway.accounts.secrets(mid));

/** The keys of a setting that are usable now, newest first. */
export async function liveKeys(gateway: Secrets, mid: string, name: SettingName): Promise<KeyObject[]> {
  return ((await readSecrets(gateway, mid))[name]?.values ?? []).map(readKnownKey);
}

/** The merchant identity of wallet-a as PEM: the certificate, and its key. */
export async function merchantIdentity(
  gateway: Secrets,
  { mid, settings }: Account,
): Promise<{ cert: string; key: string } | undefined> {
  const [key] = (await readSecrets(gateway, mid))['wallets.wallet-a.private_key']?.values ?? [];
  const certificate = settings['wallets.wallet-a.certificate'];
  if (key === undefined || certificate === '') return undefined;
  return {
    cert: readCertificate(certificate).toString(),
    key: readAnyKey(key).export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

const WALLET_A = 'wallets.wallet-a.';

/** Reads settings from JSON for a new or an existing account; also checks settings against those that are set already. */
export async function readAccountSettings(
  gateway: Pick<Gateway, 'accounts' | 'seal' | 'clock' | 'callbackReach'>,
  account: Pick<Account, 'mid' | 'settings'> | undefined,
  input: Record<string, unknown>,
): Promise<{ set: Settings; problems: Problem[] }> {
  const { set, problems } = readSettings(input, gateway.callbackReach);
  if (problems.length > 0) return { set, problems };
  const secrets = account ? await readSecrets(gateway, account.mid) : {};
  return { set, problems: settingProblems(account?.settings ?? {}, secrets, set) };
}

/** The problems that new settings have together with those that are set already. */
export function settingProblems(current: Settings, secrets: OpenedSecrets, set: Settings): Problem[] {
  if (!Object.keys(set).some((name) => name.startsWith(WALLET_A))) return [];
  const value = (name: keyof WalletAValues): string => {
    const setting: SettingName = `${WALLET_A}${name}`;
    const stored = isSecretSetting(setting) ? secrets[setting]?.values[0] : current[setting];
    return String(set[setting] ?? stored ?? '');
  };
  return walletAProblems({
    merchant_identifier: value('merchant_identifier'),
    certificate: value('certificate'),
    private_key: value('private_key'),
    processing_certificate: value('processing_certificate'),
    processing_private_key: value('processing_private_key'),
  });
}

/**
 * Separates secret settings from the others, which show only whether a secret is set. A secret that is replaced stays
 * usable for some time; saving the current one again ends that time.
 */
export function sealSettings(
  gateway: Pick<Gateway, 'seal' | 'clock'>,
  mid: string,
  settings: Settings,
  stored: OpenedSecrets = {},
): { settings: Settings; secrets: SealedSecrets } {
  const names = (Object.keys(settings) as SettingName[]).filter(isSecretSetting);
  const secrets: SealedSecrets = {};
  const shown: Settings = { ...settings };
  for (const name of names) {
    const value = String(settings[name]);
    const current = stored[name]?.values[0];
    const isSame = current !== undefined && value !== '' && readAnyKey(current).equals(readAnyKey(value));
    shown[name] = value === '' ? '' : SET;
    secrets[name] =
      value === ''
        ? null
        : {
            sealed: gateway.seal.seal(value, bound(mid, name)),
            previousUntil: isSame ? null : gateway.clock.now(mid) + LIMITS.walletKeyOverlapMs,
          };
  }
  return { settings: shown, secrets };
}

/** What may be shown about a key or a certificate. */
export interface KeyFacts {
  /** The base64 SHA-256 of the public key. */
  publicKeyHash: string;
  /** When the certificate expires. */
  expiresAt?: number;
  /** The previous key, and until when it is usable. */
  previous?: { publicKeyHash: string; until: number };
}

/** What may be shown about the keys and certificates of an account, by setting. */
export async function keyFacts(gateway: Secrets, account: Account): Promise<Partial<Record<SettingName, KeyFacts>>> {
  const pems = SETTING_NAMES.filter((name) => SETTINGS[name].input === 'pem' && account.settings[name] !== '');
  const secrets = pems.some(isSecretSetting) ? await readSecrets(gateway, account.mid) : {};
  const hashOf = (pem: string): string => publicKeyHash(readAnyKey(pem));
  const facts = pems.flatMap((name): [SettingName, KeyFacts][] => {
    if (!isSecretSetting(name)) {
      const certificate = readCertificate(String(account.settings[name]));
      const expiresAt = certificate.validToDate.getTime();
      return [[name, { publicKeyHash: publicKeyHash(certificate.publicKey), expiresAt }]];
    }
    const { values: [current, previous] = [], previousUntil } = secrets[name] ?? {};
    if (current === undefined) return [];
    const isOverlap = previous !== undefined && previousUntil !== undefined;
    return [
      [
        name,
        {
          publicKeyHash: hashOf(current),
          ...(isOverlap && { previous: { publicKeyHash: hashOf(previous), until: previousUntil } }),
        },
      ],
    ];
  });
  return Object.fromEntries(facts);
}
