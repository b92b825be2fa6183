/** Texts that look the same to everybody: without characters that are not shown or that turn others around. */

/** Control characters, line separators, and marks that change the direction of what follows. */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u200b\ufeff]/u;

export const isPlainText = (text: string): boolean => !HIDDEN.test(text);

/** The same for a text of several lines. */
export const isPlainLines = (text: string): boolean => text.split(/\r?\n/).every(isPlainText);

/** Besides them, characters that nobody sees: of no width, fillers, soft hyphens. Some languages write with them. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Whether every character of a text is seen, as in an address that people compare and type. */
export const isSeen = (text: string): boolean => !UNSEEN.test(text);
