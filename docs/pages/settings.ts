/** The settings of a merchant account. */
import { SETTING_NAMES, SETTINGS } from '../../src/rules/settings.ts';
import { code, page, table } from './markdown.ts';

const json = (value: unknown): string => code(JSON.stringify(value));

export function settings(): string {
  return page(
    'Account settings',
    'src/rules/settings.ts',
    `
The settings of a merchant account. Set them through the admin API when the account is made
(${code('POST /admin/api/accounts')}) or later (${code('PATCH /admin/api/accounts/{mid}')}), as JSON. A name with a dot
can be written with the dot or as an object: ${code('{"branding.name": "Tea"}')} and
${code('{"branding": {"name": "Tea"}}')} mean the same. An unknown name or a bad value is refused and named, and then
nothing is changed.`,
    table(
      ['Setting', 'Default', 'Expects', 'Means'],
      SETTING_NAMES.map((name) => {
        const row = SETTINGS[name];
        const inSandbox = 'sandboxDefault' in row ? `, ${json(row.sandboxDefault)} in the sandbox` : '';
        return [code(name), json(row.default) + inSandbox, row.expects, row.about];
      }),
    ),
  );
}
