/** The logo of an account: checks and encodes an uploaded picture, and makes its address a setting. */
import { hash } from 'node:crypto';
import { encodedAnew } from '../../lib/files/png.ts';
import type { Gateway } from '../context.ts';
import type { Caller } from '../operators/principal.ts';
import { changeAccount } from './accounts.ts';

const LOGO = 'branding.logo';

export const logoPath = (mid: string, digest: string): string => `/logos/${mid}/${digest}.png`;

/**
 * Stores the picture, then uses it; a process that dies in between leaves a picture that nobody sees, which the next
 * upload replaces. False if it is not a PNG picture that can be shown.
 */
export async function uploadLogo(gateway: Gateway, by: Caller, mid: string, picture: Buffer): Promise<boolean> {
  const image = encodedAnew(picture);
  if (!image) return false;
  const digest = hash('sha256', image, 'hex').slice(0, 16);
  await gateway.logos.save(mid, digest, image);
  await changeAccount(gateway, by, mid, { settings: { [LOGO]: gateway.publicUrl + logoPath(mid, digest) } });
  return true;
}

/** The page shows the name of the account then. */
export async function removeLogo(gateway: Gateway, by: Caller, mid: string): Promise<void> {
  await changeAccount(gateway, by, mid, { settings: { [LOGO]: '' } });
  await gateway.logos.remove(mid);
}
