/** The script of the panel, which its pages contain. */
import { readFileSync } from 'node:fs';

export const PANEL_SCRIPT = readFileSync(new URL('./script.js', import.meta.url), 'utf8');
