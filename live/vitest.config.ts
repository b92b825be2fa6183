/** How the tests against real providers run: only by `npm run live`, one after the other. */
import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { include: ['live/*.test.ts'], testTimeout: 60_000, maxWorkers: 1 } });
