/** Validates blockchain addresses by format and checksum. */

import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { bech32, bech32m, createBase58check } from '@scure/base';

export type Chain = 'BTC' | 'ETH' | 'BSC' | 'TRX';

const base58check = createBase58check(sha256);

/** A version byte and the hash of a key or script. Decoding is quadratic, so the length is checked first. */
function isBase58Address(address: string, versions: readonly number[]): boolean {
  if (address.length > 35) return false;
  try {
    const [version, ...hash] = base58check.decode(address);
    return version !== undefined && versions.includes(version) && hash.length === 20;
  } catch {
    return false;
  }
}

const WITNESS_PROGRAMS = [
  { version: 0, codec: bech32, lengths: [20, 32] },
  { version: 1, codec: bech32m, lengths: [32] },
];

const isSegwitAddress = (address: string): boolean =>
  WITNESS_PROGRAMS.some(({ version, codec, lengths }) => {
    const decoded = codec.decodeUnsafe(address);
    if (decoded?.prefix !== 'bc' || decoded.words[0] !== version) return false;
    const program = codec.fromWordsUnsafe(decoded.words.slice(1));
    return program !== undefined && lengths.includes(program.length);
  });

/** EIP-55: a letter is a capital where the hash of the lower-case address has a digit of 8 or more. */
function isHexAddress(address: string): boolean {
  const hex = /^0x([\da-fA-F]{40})$/.exec(address)?.[1];
  if (hex === undefined) return false;
  const lower = hex.toLowerCase();
  if (hex === lower || hex === hex.toUpperCase()) return true;
  const hash = bytesToHex(keccak_256(utf8ToBytes(lower)));
  return (
    hex === lower.replace(/[a-f]/g, (letter, at: number) => (hash.charAt(at) >= '8' ? letter.toUpperCase() : letter))
  );
}

const CHECKS: Readonly<Record<Chain, (address: string) => boolean>> = {
  BTC: (address) => isBase58Address(address, [0x00, 0x05]) || isSegwitAddress(address),
  ETH: isHexAddress,
  BSC: isHexAddress,
  TRX: (address) => isBase58Address(address, [0x41]),
};

export const isCryptoAddress = (chain: Chain, address: string): boolean => CHECKS[chain](address);
