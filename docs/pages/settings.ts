/** Generates docs/settings.md: the settings of a merchant account. */
import { SETTING_NAMES, SETTINGS } from '../../src/rules/settings.ts';
import { code, page, table } from './markdown.ts';

const json = (value: unknown): string => code(JSON.stringify(value));

export function settings(): string {
  return page(
    'Account settings',
    'src/rules/settings.ts',
    `
This page lists the settings of a merchant account. Set them as JSON through the admin API, when you create the account
(${code('POST /admin/api/accounts')}) or later (${code('PATCH /admin/api/accounts/{mid}')});
[Accounts](operator/accounts.md) has examples. A name with a dot can be written with the dot or as an object:
${code('{"branding.name": "Tea"}')} and ${code('{"branding": {"name": "Tea"}}')} are equivalent. If a request contains an
unknown name or an invalid value, it is refused with an error for each, and no setting is changed. A private key is
write-only: it reads as ${json('set')} or ${json('')}, and writing ${json('set')} leaves it as it is. [Device
wallets](operator/wallets.md) describes the keys.`,
    table(
      ['Setting', 'Default', 'Expects', 'Meaning'],
      SETTING_NAMES.map((name) => {
        const row = SETTINGS[name];
        const inSandbox = 'sandboxDefault' in row ? `, ${json(row.sandboxDefault)} in the sandbox` : '';
        return [code(name), json(row.default) + inSandbox, row.expects, row.about];
      }),
    ),
  );
}
