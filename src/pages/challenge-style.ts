/** The style of the challenge in a dialog, and of the code to scan on phones and desktops. */

/** A phone, or a tablet that is held like one: it cannot scan its own screen. */
const PHONE = '(hover:none) and (pointer:coarse) and (max-width:54rem)';

export const CHALLENGE_STYLE = `.bank{width:max-content;max-width:100vw;max-height:100dvh;padding:0;border:1px solid var(--line);border-radius:16px;
background:var(--card);color:inherit;overflow:hidden}
.bank[open]{display:flex;flex-direction:column}
.bank::backdrop{background:rgb(0 0 0/.6)}
.bank iframe{display:block;width:390px;height:400px;max-width:100%;border:0;border-block:1px solid var(--line);
background:#fff;color-scheme:light}
.bank[data-size="03"] iframe{width:500px;height:600px}
.bank[data-size="05"]{width:100vw;height:100dvh;border:0;border-radius:0}
.bank[data-size="05"] iframe{width:100%;height:auto;flex:1;min-height:0}
.bar{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:0 .75rem;padding:.25rem 16px}
.bar h2:focus-visible{outline:0}
.bar button{width:auto;min-width:2.75rem;margin:0;padding-inline:0}
.shut{color:inherit;font-size:1.5rem;line-height:1;text-decoration:none;outline-offset:-3px}
.steps{margin:1.25rem auto 0;padding-inline-start:1.5rem;width:fit-content}
.steps li{padding-block:.125rem}
.code{max-width:20rem;margin:1.25rem auto .75rem;padding:1rem;background:#fff;border:1px solid var(--line);border-radius:16px}
.code svg{display:block;width:100%;height:auto}
.on-phone,.pass{display:none}
@media${PHONE}{.on-phone{display:revert}.button.on-phone{display:flex}.on-desktop{display:none}
.pass{display:flex;flex-wrap:wrap;gap:0 .75rem}.pass>*{flex:1 1 8rem;width:auto}
.code{max-width:11rem;padding:.75rem;margin-block:1rem .5rem}}
`;
