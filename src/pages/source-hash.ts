/** The hash of an inline script or style, as a source of the content security policy. */
import { hash } from 'node:crypto';

export const sourceHash = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`;
