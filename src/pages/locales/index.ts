/** The languages of the payment pages. */
import { ar } from './ar.ts';
import { bg } from './bg.ts';
import { cs } from './cs.ts';
import { da } from './da.ts';
import { de } from './de.ts';
import { el } from './el.ts';
import { en, type Messages } from './en.ts';
import { es } from './es.ts';
import { fi } from './fi.ts';
import { fr } from './fr.ts';
import { hi } from './hi.ts';
import { hr } from './hr.ts';
import { hu } from './hu.ts';
import { id } from './id.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import { ko } from './ko.ts';
import { nb } from './nb.ts';
import { nl } from './nl.ts';
import { pl } from './pl.ts';
import { pt } from './pt.ts';
import { ro } from './ro.ts';
import { ru } from './ru.ts';
import { sr } from './sr.ts';
import { sv } from './sv.ts';
import { th } from './th.ts';
import { tr } from './tr.ts';
import { uk } from './uk.ts';
import { vi } from './vi.ts';
import { zh } from './zh.ts';

export type { Messages, Plural } from './en.ts';

export const LANGUAGES = {
  en,
  es,
  pt,
  fr,
  de,
  tr,
  sr,
  vi,
  th,
  ar,
  it,
  nl,
  pl,
  cs,
  ro,
  sv,
  da,
  nb,
  fi,
  hu,
  ru,
  uk,
  bg,
  el,
  hr,
  ja,
  ko,
  zh,
  id,
  hi,
} satisfies Record<string, Messages>;

export type Language = keyof typeof LANGUAGES;
