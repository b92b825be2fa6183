/** What Node.js compiled is kept from one start of a program to the next; it takes half of the time of a start. */
import { join } from 'node:path';

/** The variable for programs in the checkout `root`. */
export const compiledIn = (root: string): Record<string, string> => ({
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
});
