/** Generates docs/page-scripts.md: the script inventory of the payment page and how to verify it. */
import { SCRIPT, SCRIPT_HASH } from '../../src/pages/script.ts';
import { code, page, table } from './markdown.ts';

/** What the script does, and what happens without JavaScript. */
const DUTIES: readonly [does: string, without: string][] = [
  ['Formats the card number and the expiry, and shows the card network', 'the payer enters them in any format'],
  ['Validates fields before the form is submitted', 'the server validates them, with the same messages'],
  ['Submits a form once and shows progress', 'the server treats a second submission as a repeat of the first'],
  [
    'Polls the state of the payment, and reloads the page when it has changed',
    'the page reloads itself every five seconds',
  ],
  ['Counts down the remaining time', 'the page shows the remaining time at the time of loading'],
  ['Clears entered data when the payer leaves the page', 'a header tells browsers not to store the page'],
  ['Copies an account number for a transfer', 'one click selects the account number'],
  ['Redirects the payer to the bank, to the provider, or back to the shop', 'the payer clicks a button'],
];

export const pageScripts = (): string =>
  page(
    'Scripts of the payment page',
    'src/pages/script.js',
    `
This page is the script inventory of the payment page. Every page for payers (${code('/pay/…')}, ${code('/return/…')},
${code('/3ds/…')}) contains exactly one script. It is inline and loads no other resource. The only resource from another
server is the logo of the account, from the address in its settings. The pages work without JavaScript.`,
    table(
      ['Script', 'Source', 'Bytes', 'Purpose'],
      [['inline script', 'Turnpike, `src/pages/script.js`', String(Buffer.byteLength(SCRIPT)), 'see the table below']],
    ),
    table(['Function', 'Without JavaScript'], DUTIES),
    `
The script reads and changes the page and requests ${code('/pay/…/status')} of the same origin. It uses no cookies and no
browser storage. Card data stay in the form.`,
    '## Verify the script',
    `
The header ${code('content-security-policy')} of every page allows only this script, by its hash:`,
    `\`\`\`text\nscript-src ${SCRIPT_HASH}\n\`\`\``,
    `
Browsers do not run a changed or an additional script. To verify that a deployment sends the script of this release,
compare the header of any payment page with the line above. The page of an unknown link has the same header:`,
    `\`\`\`sh\ncurl -si "$PUBLIC_URL/pay/x" | grep -io "script-src [^;]*"\n\`\`\``,
    `
The same header restricts everything else: ${code("default-src 'none'")}, styles by hash, connections only to the same
origin, no plugins, no base address, no strings as scripts (${code("require-trusted-types-for 'script'")}), and frames
only for the origins in the account setting ${code('frame_ancestors')}.`,
  );
