/** How the tests run: one PostgreSQL for all files, a fresh database for each. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/database.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // How long a poll is patient; a machine that is busy with other tests is slow.
    expect: { poll: { timeout: 10_000 } },
  },
});
