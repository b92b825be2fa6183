/** Every action that the code writes into the audit log has a sentence in each language of the panel. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PANEL_LANGUAGES } from '../../src/pages/panel/locales/index.ts';

/** The first text after the caller; a template has a choice of two words. */
const NAMED =
  /auditEntry\(\s*[^,()]+,\s*[^,()]+,\s*(?:'([a-z_.]+)'|`([a-z_]+\.)\$\{[^?}]+\? '(\w+)' : '(\w+)'\}(\w*)`)/g;

const actions = new Set(
  globSync('src/{core,pages,wire}/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(NAMED)].flatMap(([, name, subject, one, other, ending]) =>
      name === undefined ? [one, other].map((word) => `${subject}${word}${ending}`) : [name],
    ),
  ),
);

test('the code is read', () => {
  expect([...actions]).toEqual(
    expect.arrayContaining(['settlements.cut', 'settlements.void', 'payouts.return_transfer', 'risk.review']),
  );
});

test.each(Object.entries(PANEL_LANGUAGES))('%s has a sentence for each action', (_tag, { audit }) => {
  expect([...actions].filter((action) => !Object.hasOwn(audit.actions, action))).toEqual([]);
});
