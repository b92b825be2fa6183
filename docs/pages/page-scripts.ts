/** Generates docs/page-scripts.md: the script inventory of the payment page and how to verify it. */
import { EMBED_SCRIPTS, FRAME_SCRIPT } from '../../src/pages/embed/scripts.ts';
import { CHALLENGE_SCRIPT, SCRIPT, SCRIPT_HASH, SHARE_SCRIPT } from '../../src/pages/script.ts';
import { sourceHash } from '../../src/pages/source-hash.ts';
import { PRETEND_SCRIPT, VENDOR_B, WALLET_SCRIPT } from '../../src/pages/wallets/scripts.ts';
import { code, page, table } from './markdown.ts';

/** What the script does, and what happens without JavaScript. */
const DUTIES: readonly [does: string, without: string][] = [
  ['Formats the card number and the expiry, and shows the card network', 'the payer enters them in any format'],
  ['Validates fields before the form is submitted', 'the server validates them, with the same messages'],
  [
    'Sends a form once without leaving the page, shows progress, errors and declines in it, and asks for the state of the payment if there is no answer',
    'the browser sends the form, and the server treats a second submission as a repeat of the first',
  ],
  [
    'Polls the state of the payment, and reloads the page when it has changed',
    'the page reloads itself every five seconds',
  ],
  ['Counts down the remaining time', 'the page shows the remaining time at the time of loading'],
  ['Clears entered data when the payer leaves the page', 'a header tells browsers not to store the page'],
  ['Copies an account number for a transfer', 'one click selects the account number'],
  ['Redirects the payer to the bank, to the provider, or back to the shop', 'the payer clicks a button'],
];

/** What the wallet script does. */
const WALLET_DUTIES: readonly string[] = [
  'Asks the browser whether the wallet is available, and shows its button',
  'Opens the payment sheet of the wallet with the amount of the order',
  'Sends the validation address of wallet-a to the gateway, which validates the merchant',
  'Sends the payment token to the gateway, and leads the payer on',
];

const bytes = (script: string): string => String(Buffer.byteLength(script));

export const pageScripts = (): string =>
  page(
    'Scripts of the payment page',
    'src/pages/script.js, src/pages/pay/ and src/pages/wallets/',
    `
This page is the script inventory of the payment page. Every page for payers (${code('/pay/…')}, ${code('/return/…')},
${code('/3ds/…')}) contains the first script of this table; the other ones are on a few pages only. The
scripts of the gateway are inline. Without wallets, the only resources from another server are the logo of the account,
from the address in its settings, and the page of the bank in the frame of a 3-D Secure challenge. The pages work without JavaScript; wallets need it.`,
    table(
      ['Script', 'Source', 'Bytes', 'On which pages', 'Purpose'],
      [
        ['page script', 'Turnpike, `src/pages/script.js`', bytes(SCRIPT), 'all', 'see the table below'],
        [
          'challenge',
          'Turnpike, `src/pages/pay/challenge.js`',
          bytes(CHALLENGE_SCRIPT),
          'that of a 3-D Secure challenge',
          'opens the challenge in a [dialog](three-ds.md#challenge-window); without it the payer clicks a button',
        ],
        [
          'frame script',
          'Turnpike, `src/pages/embed/frame.js`',
          bytes(FRAME_SCRIPT),
          'all of accounts with `frame_ancestors`',
          'tells the shop around the frame of an [embedded page](merchant/embedded-page.md) the height and the result',
        ],
        [
          'share',
          'Turnpike, `src/pages/pay/share.js`',
          bytes(SHARE_SCRIPT),
          'those with a QR code',
          'passes the image of the code to another app of a phone; without it the payer saves the image',
        ],
        [
          'wallet script',
          'Turnpike, `src/pages/wallets/script.js`',
          bytes(WALLET_SCRIPT),
          'those that offer `wallet-a` or `wallet-b`',
          '[device wallets](#device-wallets)',
        ],
        [
          'pretend wallet',
          'Turnpike, `src/pages/wallets/pretend.js`',
          bytes(PRETEND_SCRIPT),
          'the same, in the sandbox only',
          'stands in for the wallets of the vendors',
        ],
        [
          code(VENDOR_B.script),
          'the vendor of `wallet-b`',
          'not known',
          'those that offer `wallet-b`, without the pretend wallet',
          'the payment sheet of `wallet-b`',
        ],
      ],
    ),
    table(['Function of the page script', 'Without JavaScript'], DUTIES),
    `
The page script reads and changes the page and requests ${code('/pay/…')} and ${code('/pay/…/status')} of the same origin. It uses no cookies and
no browser storage. Card data stay in the form.`,
    '## Device wallets',
    `
A page contains the wallet script if the account and the session allow a wallet and the account has its keys
([Device wallets](operator/wallets.md)). The script uses no cookies and no browser storage, and requests only
${code('/pay/…/wallet')} and ${code('/pay/…/wallet-session')} of the same origin:`,
    WALLET_DUTIES.map((duty) => `- ${duty}.`).join('\n'),
    `
${code('wallet-a')} is part of the browser and needs no script of its vendor. ${code('wallet-b')} needs one. Its vendor
changes the script at any time and publishes no hash, so the browser cannot verify it: list it in your own inventory, and
remove ${code('wallet-b')} from the account setting ${code('brands')} if you do not accept that. A page with its button has a
policy that is extended by the addresses of the vendor:`,
    table(
      ['Directive', 'In addition'],
      [
        [code('script-src'), code(VENDOR_B.script)],
        [code('frame-src'), code(VENDOR_B.frames)],
        [code('img-src'), code(VENDOR_B.images)],
        [code('connect-src'), VENDOR_B.connections.split(' ').map(code).join(', ')],
        [code('style-src'), 'a nonce, for the styles that the script adds'],
        [code('require-trusted-types-for'), 'is left out, because the script may use strings as HTML'],
      ],
    ),
    '## Verify the scripts',
    `
The header ${code('content-security-policy')} of every page allows only these scripts, each by its hash:`,
    table(
      ['Script', 'Source in `script-src`'],
      [
        ['page script', code(SCRIPT_HASH)],
        ['challenge', code(sourceHash(CHALLENGE_SCRIPT))],
        ['frame script', code(sourceHash(FRAME_SCRIPT))],
        ['share', code(sourceHash(SHARE_SCRIPT))],
        ['wallet script', code(sourceHash(WALLET_SCRIPT))],
        ['pretend wallet', code(sourceHash(PRETEND_SCRIPT))],
      ],
    ),
    `
Browsers do not run a changed or an additional script. To verify that a deployment sends the scripts of this release,
compare the header of any payment page with the table above. The page of an unknown link has the first hash only:`,
    `\`\`\`sh\ncurl -si "$PUBLIC_URL/pay/x" | grep -io "script-src [^;]*"\n\`\`\``,
    `
The same header restricts everything else: ${code("default-src 'none'")}, styles by hash, connections only to the same
origin, no plugins, no base address, no strings as scripts (${code("require-trusted-types-for 'script'")}), and frames
only for the origins in the account setting ${code('frame_ancestors')}. On the page of a 3-D Secure challenge,
${code('frame-src')} is the origin of the bank and our own, for the page that the bank returns to.`,
    '## Script for shops',
    `
Shops that [embed the page](merchant/embedded-page.md) include one of these files. A file never changes; ${code('/embed.js')} is the
newest one. The value of ${code('integrity')} lets browsers verify it:`,
    table(
      ['File', 'Bytes', '`integrity`'],
      EMBED_SCRIPTS.map(({ version, source, integrity }) => [
        code(`/embed/${version}.js`),
        bytes(source),
        code(integrity),
      ]),
    ),
  );
