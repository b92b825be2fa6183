/** Every case of a callback. */
import { vi } from 'vitest';

// Another file of this worker may have loaded these tests; a second import of the same module would register none.
vi.resetModules();
await import('./callbacks.test.ts');
