/** The marks of the card networks: plain shapes with letters, drawn for this page. */
import { BY_PREFIX, CARD_NETWORKS, type KnownNetwork } from '../../lib/card-networks.ts';
import { Html, html } from '../../lib/html.ts';

/** White shapes behind the letters. */
const SHAPES = {
  band: 'M0 14h32v6H0z',
  disc: 'M32 10a8 8 0 1 1-16 0 8 8 0 0 1 16 0',
  slope: 'M12 20 24 0h8v20z',
  corner: 'M0 0h14L0 14z',
  half: 'M0 0h11v20H0z',
  ring: 'M16 2a8 8 0 1 0 0 16 8 8 0 0 0 0-16m0 3a5 5 0 1 1 0 10 5 5 0 0 1 0-10',
} as const;

/** The grounds are dark enough for white letters, in light and dark mode. */
const MARKS: Readonly<Record<KnownNetwork, readonly [letters: string, ground: string, shape: keyof typeof SHAPES]>> = {
  visa: ['VISA', '#1d3c8f', 'band'],
  mastercard: ['MC', '#8a3b12', 'disc'],
  amex: ['AMEX', '#17628f', 'corner'],
  maestro: ['MAES', '#5a3a9c', 'disc'],
  diners: ['DC', '#3b5566', 'ring'],
  discover: ['DISC', '#94480a', 'slope'],
  jcb: ['JCB', '#14663c', 'half'],
  unionpay: ['UP', '#8c2130', 'slope'],
  troy: ['TROY', '#0d636c', 'corner'],
  elo: ['ELO', '#33363d', 'ring'],
  mir: ['MIR', '#33691e', 'band'],
  rupay: ['RUPAY', '#6b4a08', 'slope'],
  hipercard: ['HIPER', '#8c1646', 'half'],
  verve: ['VERVE', '#74205a', 'corner'],
};

/** The definitions, once per page; the script selects one of them for the number that is entered. */
const SYMBOLS = new Html(
  `<svg class="hush" aria-hidden="true">${BY_PREFIX.map((name) => {
    const [letters, ground, shape] = MARKS[name];
    return `<symbol id="n-${name}" viewBox="0 0 32 20"><rect width="32" height="20" rx="3.5" fill="${ground}"/><path d="${SHAPES[shape]}" fill="#fff" fill-opacity=".16"/><text x="16" y="13.2">${letters}</text></symbol>`;
  }).join('')}</svg>`,
);

/** The mark of a network beside its name. */
export const markOf = (name: KnownNetwork): Html =>
  html`<svg class="network-mark" aria-hidden="true"><use href="#n-${name}"/></svg>`;

/** A row of the marks of these networks; the script highlights the one of the number. */
export const markRow = (networks: readonly KnownNetwork[], label: string): Html =>
  html`${SYMBOLS}<ul class="networks fresh" role="list" aria-label="${label}">${networks.map(
    (name) =>
      html`<li data-network="${name}"><svg role="img" aria-label="${CARD_NETWORKS[name].title}"><use href="#n-${name}"/></svg></li>`,
  )}</ul>`;

/** Where the security code is on a card: on the back, or on the front above the number. */
export const CODE_MARK = new Html(
  `<svg class="where" viewBox="0 0 32 20" aria-hidden="true"><rect x=".75" y=".75" width="30.5" height="18.5" rx="3"/><g class="back"><path d="M1 5.5h30"/><rect x="19" y="9" width="9" height="6" rx="3" class="spot"/></g><g class="front"><path d="M4 15h12"/><rect x="19" y="4" width="9" height="6" rx="3" class="spot"/></g></svg>`,
);
