/** The inventory of the scripts on the payment page: what runs there, why, and how to tell that it is the same. */
import { SCRIPT, SCRIPT_HASH } from '../../src/pages/script.ts';
import { code, page, table } from './markdown.ts';

/** What the script does, and what a payer does without it. */
const DUTIES: readonly [does: string, without: string][] = [
  ['Spaces the card number, names its network, adds the slash of the expiry', 'the payer types them as they like'],
  ['Says what is wrong with a field before the form is sent', 'the server says it, in the same words'],
  ['Sends a form once and shows that it is under way', 'the server takes a second press for the first one'],
  [
    'Asks whether the payment has moved on, and loads the page again when it has',
    'the page loads itself every five seconds',
  ],
  ['Lets the remaining time run down', 'the page says the time as it was when it was loaded'],
  ['Forgets what was typed when the page is left', 'browsers are told to keep nothing of the page'],
  ['Copies an account number for a transfer', 'the payer selects it with one press'],
  ['Sends the payer on to the bank, to the provider, or back to the shop', 'the payer presses the button'],
];

export const pageScripts = (): string =>
  page(
    'Scripts of the payment page',
    'src/pages/script.js',
    `
Every page for payers (${code('/pay/…')}, ${code('/return/…')}, ${code('/3ds/…')}) has exactly one script. It is written
into the page itself, comes from the gateway, and loads nothing. Nothing on the page comes from anybody else, except the
logo of the account from the one address that its settings name. The pages work without the script.`,
    table(
      ['Script', 'Written by', 'Bytes', 'Reason'],
      [
        [
          'the one inline script',
          'Turnpike, `src/pages/script.js`',
          String(Buffer.byteLength(SCRIPT)),
          'the list below',
        ],
      ],
    ),
    table(['What it does', 'Without it'], DUTIES),
    `
It reads and writes the page, asks ${code('/pay/…/status')} of the same origin, and keeps nothing: no cookie, no storage.
Card data stays in the form.`,
    '## How a browser knows it',
    `
The header ${code('content-security-policy')} of every page allows this script by its hash, and no other:`,
    `\`\`\`text\nscript-src ${SCRIPT_HASH}\n\`\`\``,
    `
A changed script, or one that somebody adds, does not run. To see whether a deployment still sends what this release
wrote, compare the header of any payment page with the line above; an unknown link will do:`,
    `\`\`\`sh\ncurl -si "$PUBLIC_URL/pay/x" | grep -io "script-src [^;]*"\n\`\`\``,
    `
The same header forbids everything that is not listed: ${code("default-src 'none'")}, styles by hash, connections to the
same origin, no plugins, no base address, no strings as scripts (${code("require-trusted-types-for 'script'")}), and no
frames but those of the account setting ${code('frame_ancestors')}.`,
  );
