/** What pages with device wallets contain besides the common script and style, and the addresses of the vendors. */
import { readScript } from '../script.ts';

export const WALLET_SCRIPT = readScript(new URL('./script.js', import.meta.url));
/** Only in the sandbox. */
export const PRETEND_SCRIPT = readScript(new URL('./pretend.js', import.meta.url));

/** The style of the buttons; the vendors draw their own: that of wallet-a in browsers that have the wallet, that of wallet-b by its script. */
export const WALLET_STYLE = `.wallets{margin-top:1.25rem}
.wallets button{margin-top:.625rem;border-color:#000;background:#000;color:#fff}
.wallets .drawn{height:3.25rem;margin-top:.625rem}
.drawn:has(+[disabled]),.has-drawn:not([disabled]){display:none}
.wallets .or{display:flex;align-items:center;gap:.75rem;margin-top:1.25rem;color:var(--soft);font-size:.875rem}
.or::before,.or::after{content:"";flex:1;border-top:1px solid var(--line)}
@media(prefers-color-scheme:dark){.wallets button{border-color:#fff;background:#fff;color:#000}}
@supports(-webkit-appearance:-apple-pay-button){.wallets .vendor-a{-webkit-appearance:-apple-pay-button;
-apple-pay-button-type:pay;-apple-pay-button-style:black}
.wallets .vendor-a>*{display:none}
@media(prefers-color-scheme:dark){.wallets .vendor-a{-apple-pay-button-style:white}}}
`;

/** The style of the sheet of the pretend wallet. */
export const PRETEND_STYLE = `.sheet{width:min(26rem,100%);max-width:100%;padding:1.5rem;border:1px solid var(--line);
border-radius:16px;background:var(--card);color:var(--ink)}
.sheet::backdrop{background:rgb(0 0 0/.5)}
.sheet h2{margin:0}
@media(max-width:40rem){.sheet{margin:auto 0 0;width:100%;border-radius:16px 16px 0 0}}
`;

/** The vendor of wallet-b: its script, its frame, the picture of its button, and what the browser requests for it. Wallet-a needs no script. */
export const VENDOR_B = {
  script: 'https://pay.google.com/gp/p/js/pay.js',
  frames: 'https://pay.google.com',
  images: 'https://www.gstatic.com',
  connections: 'https://pay.google.com https://google.com/pay https://www.google.com/pay',
} as const;
