/** The screenshots of the docs: files of docs/images, which `npm run screenshots` takes from the running product. */
import { existsSync, readFileSync } from 'node:fs';
import { type Html, html } from '../../lib/text/html.ts';

const FOLDER = new URL('../../../docs/images/', import.meta.url);

export interface Screen {
  file: string;
  alt: string;
  width: number;
  height: number;
}

/** The screenshots, by what they show; the sizes are those of the window. */
export const SCREENS = {
  page: {
    file: 'payment-page.webp',
    alt: 'The payment page of a demo shop: the order on the left, the ways to pay on the right',
    width: 1120,
    height: 700,
  },
  panel: {
    file: 'panel.webp',
    alt: 'The overview of the panel: figures of the last days, a chart, and the newest payments',
    width: 1280,
    height: 940,
  },
  start: {
    file: 'start-page.webp',
    alt: 'The start page of the sandbox: a test payment, a command to copy, and the keys of the demo shop',
    width: 1120,
    height: 700,
  },
} as const satisfies Record<string, Screen>;

/** An image of the docs; undefined if there is none of this name. */
export function imageOf(name: string): Buffer | undefined {
  const file = new URL(name, FOLDER);
  return /^[\w-]+\.webp$/.test(name) && existsSync(file) ? readFileSync(file) : undefined;
}

export const picture = ({ file, alt, width, height }: Screen): Html =>
  html`<img class="screenshot" src="/docs/images/${file}" alt="${alt}" width="${width}" height="${height}" loading="lazy">`;

/** The picture of a Markdown image; undefined for any other file. */
export const pictureOf = (file: string, alt: string): Html | undefined => {
  const screen = Object.values(SCREENS).find((one) => file === `docs/images/${one.file}`);
  return screen && picture({ ...screen, alt });
};
