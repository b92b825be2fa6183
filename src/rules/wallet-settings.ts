/** The kinds of wallet settings: certificates and private keys as PEM, and which of them belong together. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { isText } from '../lib/text/json.ts';
import { isIssuedTo, readCertificate, readPrivateKey } from '../lib/wallets/keys.ts';

const PEM_LENGTH = 16 * 1024;

/** The shortest RSA key of a merchant identity certificate. */
const RSA_BITS = 2048;

const tried = <Result>(read: () => Result): Result | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

const pem = (expects: string, isValid: (text: string) => boolean) => ({
  expects: `${expects}, or empty`,
  input: 'pem' as const,
  check: (value: unknown): string | undefined =>
    value === '' || (isText(value, PEM_LENGTH) && isValid(value))
      ? undefined
      : `This value should be ${expects}, or empty.`,
});

const isP256 = ({ asymmetricKeyDetails }: KeyObject): boolean => asymmetricKeyDetails?.namedCurve === 'prime256v1';

/** A private key of P-256, or of RSA, which merchant identity certificates use; PEM, also on one line. */
export function readAnyKey(pem: string): KeyObject {
  if (tried(() => readPrivateKey(pem))) return readPrivateKey(pem);
  const wrapped = pem.replace(
    /(-----BEGIN [A-Z ]+-----)([^-]+)(-----END [A-Z ]+-----)/,
    (_, begin, body, end) => `${begin}\n${body.replace(/\s/g, '')}\n${end}\n`,
  );
  const key = createPrivateKey(wrapped);
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < RSA_BITS) throw new Error('The key cannot be used.');
  return key;
}

export const certificate = pem('a certificate as PEM', (text) => tried(() => readCertificate(text)) !== undefined);
export const walletKey = pem(
  'an unencrypted P-256 private key as PEM (SEC 1 or PKCS #8)',
  (text) => tried(() => readPrivateKey(text)) !== undefined,
);
export const identityKey = pem(
  `an unencrypted private key as PEM: P-256, or RSA with at least ${RSA_BITS} bits`,
  (text) => tried(() => readAnyKey(text)) !== undefined,
);

/** The settings of wallet-a that depend on each other, with the values they would have after a change. */
export interface WalletAValues {
  merchant_identifier: string;
  certificate: string;
  private_key: string;
  processing_certificate: string;
  processing_private_key: string;
}

/** Checks a key against its certificate, and the processing certificate against the merchant identifier. */
export function walletAProblems(values: WalletAValues): { field: string; sentence: string }[] {
  const problem = (name: keyof WalletAValues, sentence: string) => ({ field: `wallets.wallet-a.${name}`, sentence });
  const processing = values.processing_certificate === '' ? undefined : readCertificate(values.processing_certificate);
  return [
    ...(fits(values.private_key, values.certificate)
      ? []
      : [problem('private_key', 'This value should be the private key of wallets.wallet-a.certificate.')]),
    ...(fits(values.processing_private_key, values.processing_certificate)
      ? []
      : [
          problem(
            'processing_private_key',
            'This value should be the private key of wallets.wallet-a.processing_certificate.',
          ),
        ]),
    ...(processing && !isP256(processing.publicKey)
      ? [problem('processing_certificate', 'This value should be a certificate of a P-256 key.')]
      : []),
    ...(processing && !isIssuedTo(processing, values.merchant_identifier)
      ? [
          problem(
            'processing_certificate',
            'This value should be a payment processing certificate of wallets.wallet-a.merchant_identifier.',
          ),
        ]
      : []),
  ];
}

/** Whether a key is that of a certificate; a pair with an empty part is not compared. */
const fits = (key: string, certificatePem: string): boolean =>
  key === '' || certificatePem === '' || readCertificate(certificatePem).checkPrivateKey(readAnyKey(key));
