/** A software authenticator: makes genuine WebAuthn results, and forged ones where a test alters a part. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

type Cbor = number | string | Buffer | Map<number | string, Cbor>;

/** CBOR (RFC 8949) of what an attestation contains: integers, byte strings, texts and maps. */
function cbor(value: Cbor): Buffer {
  const head = (type: number, length: number): Buffer =>
    length < 24
      ? Buffer.from([(type << 5) | length])
      : length < 256
        ? Buffer.from([(type << 5) | 24, length])
        : Buffer.from([(type << 5) | 25, length >> 8, length & 255]);
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([
    head(5, value.size),
    ...[...value].flatMap(([key, content]) => [cbor(key as Cbor), cbor(content)]),
  ]);
}

const sha256 = (data: Buffer | string): Buffer => createHash('sha256').update(data).digest();
const base64url = (data: Buffer | string): string => Buffer.from(data).toString('base64url');

/** The flags of authenticator data: user present, user verified, attested credential data. */
export const FLAGS = { up: 0x01, uv: 0x04, at: 0x40 } as const;

export const newKey = (namedCurve = 'P-256') => generateKeyPairSync('ec', { namedCurve });

/** What a test may alter; the rest is as a genuine authenticator makes it. */
export interface Alterations {
  type?: string;
  challenge?: string;
  origin?: string;
  rpId?: string;
  flags?: number;
  counter?: number;
  userHandle?: string;
  /** The id that the result names, if not that of the passkey. */
  id?: Buffer;
  /** The key that signs, and its digest. */
  signer?: KeyObject;
  digest?: 'sha256' | 'sha384';
  /** COSE algorithm and curve of the public key. */
  algorithm?: number;
  curve?: number;
  /** A self-attestation in place of none, signed by `signer`. */
  isAttested?: boolean;
  /** Changes the authenticator data after it was signed. */
  afterwards?: (data: Buffer) => Buffer;
}

interface Options {
  challenge: string;
  user?: { id: string };
}

/** One passkey at one origin. */
export class Authenticator {
  readonly credentialId = randomBytes(16);
  readonly #key = newKey();
  readonly #origin: string;
  readonly #rpId: string;
  counter = 0;
  /** The operator that the passkey names. */
  userHandle = '';

  constructor(origin: string) {
    this.#origin = origin;
    this.#rpId = new URL(origin).hostname;
  }

  #clientData(type: string, { challenge }: Options, altered: Alterations): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: altered.type ?? type,
        challenge: altered.challenge ?? challenge,
        origin: altered.origin ?? this.#origin,
        crossOrigin: false,
      }),
    );
  }

  #data(flags: number, altered: Alterations, more = Buffer.alloc(0)): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(altered.counter ?? ++this.counter);
    const rpIdHash = sha256(altered.rpId ?? this.#rpId);
    return Buffer.concat([rpIdHash, Buffer.from([altered.flags ?? flags]), counter, more]);
  }

  #publicKey({ algorithm = -7, curve = 1 }: Alterations): Buffer {
    const { x = '', y = '' } = this.#key.publicKey.export({ format: 'jwk' });
    const coordinate = (text: string): Buffer => Buffer.from(text, 'base64url');
    // Key type EC2, algorithm, curve, and the point.
    return cbor(
      new Map<number, Cbor>([
        [1, 2],
        [3, algorithm],
        [-1, curve],
        [-2, coordinate(x)],
        [-3, coordinate(y)],
      ]),
    );
  }

  #sign(data: Buffer, clientData: Buffer, { signer, digest = 'sha256' }: Alterations): Buffer {
    return sign(digest, Buffer.concat([data, sha256(clientData)]), signer ?? this.#key.privateKey);
  }

  /** The result of `navigator.credentials.create`. */
  create(options: Options, altered: Alterations = {}): string {
    this.userHandle = options.user?.id ?? '';
    const id = altered.id ?? this.credentialId;
    const length = Buffer.from([id.length >> 8, id.length & 255]);
    const attested = Buffer.concat([Buffer.alloc(16), length, id, this.#publicKey(altered)]);
    const clientData = this.#clientData('webauthn.create', options, altered);
    const data = this.#data(FLAGS.up | FLAGS.uv | FLAGS.at, altered, attested);
    const statement = new Map<string, Cbor>();
    if (altered.isAttested) {
      statement.set('alg', altered.algorithm ?? -7).set('sig', this.#sign(data, clientData, altered));
    }
    const attestation = new Map<string, Cbor>([
      ['fmt', altered.isAttested ? 'packed' : 'none'],
      ['attStmt', statement],
      ['authData', altered.afterwards?.(data) ?? data],
    ]);
    return JSON.stringify({
      id: base64url(id),
      rawId: base64url(id),
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: base64url(clientData),
        attestationObject: base64url(cbor(attestation)),
        transports: ['internal'],
      },
    });
  }

  /** The result of `navigator.credentials.get`. */
  get(options: Options, altered: Alterations = {}): string {
    const clientData = this.#clientData('webauthn.get', options, altered);
    const data = this.#data(FLAGS.up | FLAGS.uv, altered);
    const id = base64url(altered.id ?? this.credentialId);
    return JSON.stringify({
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(altered.afterwards?.(data) ?? data),
        signature: base64url(this.#sign(data, clientData, altered)),
        userHandle: altered.userHandle ?? this.userHandle,
      },
    });
  }
}
