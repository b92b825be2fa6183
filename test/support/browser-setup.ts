/** Looks for a Chromium once for the whole run, and says at its end that the browser tests were skipped without one. */
import { basename, dirname } from 'node:path';
import type { TestProject } from 'vitest/node';
import { browserTestMode, type Chromium, findChromium, NO_BROWSER } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Nothing where there is no browser. */
    chromium: Chromium | undefined;
  }
}

export default async function setup(project: TestProject) {
  const chromium = await findChromium();
  project.provide('chromium', chromium);
  return () => {
    const files = project.vitest.state.getFiles();
    const isWanted = files.some(({ filepath }) => basename(dirname(filepath)) === 'browser');
    const mode = browserTestMode(chromium !== undefined, process.env);
    if (isWanted && mode === 'skip') console.error(`\nSKIPPED: THE BROWSER TESTS. ${NO_BROWSER}`);
  };
}
