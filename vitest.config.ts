/** How the tests run: `npm run test:quick` is the first project, `npm test` the first two, `npm run test:long` the third. */
import { defineConfig } from 'vitest/config';
import LongestFirst from './test/support/longest-first.ts';

/** Tests that need neither a database nor the gateway nor a browser. */
const UNIT = [
  'test/{lib,pages,rules,support}/**/*.test.ts',
  'test/{docs,layers}.test.ts',
  'test/server/config.test.ts',
  'test/store/database/migration-rules.test.ts',
  'test/core/{due/rows,cards/security-code-cache,payments/return,erasure/personal-data,invoices/state}.test.ts',
  'test/core/callbacks/*.test.ts',
  'test/wire/body-reader.test.ts',
  'test/client/{generated,vectors,transport,servers}.test.ts',
  'test/plugins/**/package.test.ts',
];
const LONG = ['test/**/*.long.test.ts'];

/** One PostgreSQL for all files of a project, a fresh database for each; one Chromium for all of them. */
const globalSetup = ['test/support/database.ts', 'test/support/browser-setup.ts'];

/** More workers than cores, because many tests wait for a process, a database or a browser. */
const WAITING_WORKERS = 4;

export default defineConfig({
  test: {
    pool: 'forks',
    // A worker loads each module once, for all of its files.
    isolate: false,
    restoreMocks: true,
    sequence: { sequencer: LongestFirst },
    // So much patience because a machine that is busy with other tests is slow; a test that succeeds does not wait.
    testTimeout: 120_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 20_000, interval: 20 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: UNIT,
          exclude: LONG,
          provide: { isLong: false },
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'gateway',
          include: ['test/**/*.test.ts'],
          exclude: [...UNIT, ...LONG],
          globalSetup,
          provide: { isLong: false },
          maxWorkers: WAITING_WORKERS,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: LONG,
          globalSetup,
          provide: { isLong: true },
          maxWorkers: WAITING_WORKERS,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
