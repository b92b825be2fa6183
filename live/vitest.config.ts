/** How the tests against real providers run: only by `npm run live`, one after the other. */
import { defineConfig } from 'vitest/config';

const isWithPayer = process.env.LIVE_PAYER !== undefined;

export default defineConfig({
  test: {
    include: ['live/*.test.ts'],
    // A person, and a webhook, need some time.
    testTimeout: isWithPayer ? 600_000 : 120_000,
    maxWorkers: 1,
    reporters: ['default', './live/report.ts'],
  },
});
