/** The languages of the payment pages. */
import { ar } from './ar.ts';
import { bg } from './bg.ts';
import { de } from './de.ts';
import { el } from './el.ts';
import { en, type Messages } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { hr } from './hr.ts';
import { pt } from './pt.ts';
import { ru } from './ru.ts';
import { sr } from './sr.ts';
import { th } from './th.ts';
import { tr } from './tr.ts';
import { uk } from './uk.ts';
import { vi } from './vi.ts';

export type { Messages, Plural } from './en.ts';

export const LANGUAGES = { en, es, pt, fr, de, tr, sr, vi, th, ar, ru, uk, bg, el, hr } satisfies Record<
  string,
  Messages
>;

export type Language = keyof typeof LANGUAGES;
