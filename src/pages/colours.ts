/** The colours of all pages, light and dark, as custom properties. */

export const COLOURS = `
:root{color-scheme:light dark;--ground:#f3f4f6;--card:#fff;--raised:#f3f4f6;--ink:#14181d;--soft:#565f6b;--line:#e0e4e9;
--edge:#818a97;--fill:#0f5c4c;--on-fill:#fff;--accent:#0f5c4c;--bad:#b3261e;--bad-ground:#fdeceb;--good:#0f6b45;
--good-ground:#e5f4ec}
@media(prefers-color-scheme:dark){:root{--ground:#0f1216;--card:#191e24;--raised:#20262d;--ink:#eef1f5;--soft:#a8b2be;
--line:#2f3842;--edge:#76818f;--fill:#79d8c0;--on-fill:#04231c;--accent:#79d8c0;--bad:#ffb4ab;--bad-ground:#3b1a17;
--good:#7bdca8;--good-ground:#12301f}}
`;
