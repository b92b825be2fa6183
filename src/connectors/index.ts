/** Every connector by its name. */
import type { Connector } from './connector.ts';
import { vcard } from './vcard.ts';

export const CONNECTORS: Readonly<Record<string, Connector>> = { vcard };
