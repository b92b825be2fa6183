/** Self-signed certificates for tests, generated in code because not every machine has a tool for it. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface Certificate {
  key: string;
  cert: string;
}

/** One DER element: tag, length and content. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const inside = Buffer.concat(parts);
  const size = inside.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), inside]);
}

const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts);
const octets = (inside: Buffer): Buffer => der(0x04, inside);
const bits = (inside: Buffer): Buffer => der(0x03, Buffer.from([0]), inside);
const time = (date: Date): Buffer => der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\..*$/g, '')}Z`));

const ECDSA_WITH_SHA256 = sequence(Buffer.from('06082a8648ce3d040302', 'hex'));
const RSA_WITH_SHA256 = sequence(Buffer.from('06092a864886f70d01010b0500', 'hex'));
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const ALTERNATIVE_NAME = Buffer.from('0603551d11', 'hex');
const BASIC_CONSTRAINTS = Buffer.from('0603551d13', 'hex');
const TRUE = Buffer.from('0101ff', 'hex');

const DAY_MS = 86_400_000;

/** A certificate for these names and IPv4 addresses that expires after this many days. */
export function selfSigned(names: readonly string[], days = 30, kind: 'ec' | 'rsa' = 'ec'): Certificate {
  const algorithm = kind === 'ec' ? ECDSA_WITH_SHA256 : RSA_WITH_SHA256;
  const { publicKey, privateKey } =
    kind === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(names[0] ?? 'nobody')))));
  const alternatives = names.map((text) =>
    /^[\d.]+$/.test(text) ? der(0x87, Buffer.from(text.split('.').map(Number))) : der(0x82, Buffer.from(text)),
  );
  const content = sequence(
    der(0xa0, Buffer.from('020102', 'hex')),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    sequence(time(new Date(Date.now() - 365 * DAY_MS)), time(new Date(Date.now() + days * DAY_MS))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        sequence(BASIC_CONSTRAINTS, TRUE, octets(sequence(TRUE))),
        sequence(ALTERNATIVE_NAME, octets(sequence(...alternatives))),
      ),
    ),
  );
  const certificate = sequence(content, algorithm, bits(sign('sha256', content, privateKey)));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}
