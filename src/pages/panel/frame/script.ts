/** The scripts of the panel, which its pages contain: that of every page, and that of pages with charts. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { sourceHash } from '../../source-hash.ts';

const library = createRequire(import.meta.url).resolve('uplot/dist/uPlot.iife.min.js');

/** An inline script and its source in the content security policy. */
export interface PageScript {
  text: string;
  source: string;
}

function pageScript(path: string | URL): PageScript {
  const text = readFileSync(path, 'utf8');
  return { text, source: sourceHash(text) };
}

export const PANEL_SCRIPT = pageScript(new URL('./script.js', import.meta.url));

/** The chart library, and the script that draws the charts of a page with it. */
export const CHART_SCRIPTS: readonly PageScript[] = [
  pageScript(library),
  pageScript(new URL('../reports/charts.js', import.meta.url)),
];

export const CHART_STYLE = readFileSync(library.replace('uPlot.iife.min.js', 'uPlot.min.css'), 'utf8');
