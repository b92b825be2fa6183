/** Sealed values that a form carries from one step to the next: they expire soon, and each can be used once. */
import { hash } from 'node:crypto';
import { boundTo } from '../../lib/crypto/seal.ts';
import type { Gateway } from '../context.ts';

export interface OpenedValue<Value> {
  value: Value;
  expiresAt: number;
  digest: Buffer;
}

const boundFor = (purpose: string): string => boundTo('panel', 'form', purpose);

export function sealValue(
  { seal, clock }: Pick<Gateway, 'seal' | 'clock'>,
  purpose: string,
  value: object,
  lifetimeMs: number,
): string {
  const text = JSON.stringify({ value, expiresAt: clock.real() + lifetimeMs });
  return seal.seal(text, boundFor(purpose)).toString('base64url');
}

/** Undefined if the value was changed, is for another purpose, or has expired. */
export function openValue<Value>(
  { seal, clock }: Pick<Gateway, 'seal' | 'clock'>,
  purpose: string,
  text: string,
): OpenedValue<Value> | undefined {
  const sealed = Buffer.from(text, 'base64url');
  try {
    const { value, expiresAt } = JSON.parse(seal.open(sealed, boundFor(purpose)));
    return expiresAt > clock.real() ? { value, expiresAt, digest: hash('sha256', sealed, 'buffer') } : undefined;
  } catch {
    return undefined;
  }
}

/** False if the value was used before. */
export const spendValue = (
  { operatorCredentials, clock }: Pick<Gateway, 'operatorCredentials' | 'clock'>,
  { digest, expiresAt }: Omit<OpenedValue<unknown>, 'value'>,
): Promise<boolean> => operatorCredentials.spend(digest, expiresAt, clock.real());
