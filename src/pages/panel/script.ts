/** The scripts of the panel, which its pages contain: that of every page, and that of pages with charts. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const library = createRequire(import.meta.url).resolve('uplot/dist/uPlot.iife.min.js');

export const PANEL_SCRIPT = readFileSync(new URL('./script.js', import.meta.url), 'utf8');

/** The chart library, and the script that draws the charts of a page with it. */
export const CHART_SCRIPTS: readonly string[] = [
  readFileSync(library, 'utf8'),
  readFileSync(new URL('./charts.js', import.meta.url), 'utf8'),
];

export const CHART_STYLE = readFileSync(library.replace('uPlot.iife.min.js', 'uPlot.min.css'), 'utf8');
