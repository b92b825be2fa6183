/** The search of the docs: the same function finds sections on the server and in the browser. */

/** A section of a page, as the index has it. */
export interface SearchEntry {
  path: string;
  title: string;
  heading: string;
  text: string;
}

export interface SearchResult {
  path: string;
  title: string;
  heading: string;
  excerpt: string;
}

/** Words that readers type, each with the words of the docs. */
export type Synonyms = Readonly<Record<string, readonly string[]>>;

/**
 * The sections that contain all words of the query or of a synonym of it, best first; without one, those that contain
 * some of them. The script of the pages contains the source of this function, so it uses nothing from outside.
 */
export function findSections(
  index: readonly SearchEntry[],
  query: string,
  most: number,
  synonyms: Synonyms,
): SearchResult[] {
  const plain = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 8).join(' ');
  if (plain === '') return [];
  const meanings = Object.keys(synonyms).flatMap((typed) =>
    ` ${plain} `.includes(` ${typed} `)
      ? (synonyms[typed] ?? []).map((meant) => ` ${plain} `.replace(` ${typed} `, ` ${meant} `).trim())
      : [],
  );
  // A short word is a whole word: "sca" is not a part of "scaling".
  const placesOf = (text: string, word: string): number[] => {
    const places: number[] = [];
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      const around = (text[at - 1] ?? ' ') + (text[at + word.length] ?? ' ');
      if (word.length > 3 || !/[a-z\d]/.test(around)) places.push(at);
    }
    return places;
  };
  // Words that say nothing about a section do not count beside others.
  const common = ['a', 'an', 'and', 'do', 'for', 'how', 'i', 'in', 'is', 'of', 'the', 'to'];
  const find = (phrase: string, needsAll: boolean) => {
    const typed = phrase.split(' ');
    const telling = typed.filter((word) => !common.includes(word));
    const words = telling.length > 0 ? telling : typed;
    return index.flatMap((entry) => {
      const title = entry.title.toLowerCase();
      const heading = entry.heading.toLowerCase();
      const text = entry.text.toLowerCase();
      let score = 0;
      let first = text.length;
      for (const word of words) {
        const isTitle = placesOf(title, word).length > 0;
        const isHeading = placesOf(heading, word).length > 0;
        const places = placesOf(text, word);
        if (needsAll && !isTitle && !isHeading && places.length === 0) return [];
        score += (isHeading ? 12 : 0) + (isTitle ? 6 : 0) + Math.min(places.length, 5);
        first = Math.min(first, places[0] ?? first);
      }
      if (score === 0) return [];
      if (heading === phrase || (heading === title && title === phrase)) score += 40;
      else if (heading.includes(phrase)) score += 10;
      else if (words.length > 1 && text.includes(phrase)) score += 15;
      const from = first === text.length ? 0 : Math.max(0, first - 60);
      const begin = from === 0 ? 0 : entry.text.indexOf(' ', from) + 1;
      const end = entry.text.length - begin <= 180 ? entry.text.length : entry.text.lastIndexOf(' ', begin + 180);
      const excerpt = `${begin > 0 ? '… ' : ''}${entry.text.slice(begin, end)}${end < entry.text.length ? ' …' : ''}`;
      return [{ score, result: { path: entry.path, title: entry.title, heading: entry.heading, excerpt } }];
    });
  };
  let scored = [plain, ...meanings].flatMap((phrase) => find(phrase, true));
  if (scored.length === 0) scored = find(plain, false);
  scored.sort((a, b) => b.score - a.score);
  const paths = new Set<string>();
  const best = scored.filter(({ result }) => !paths.has(result.path) && paths.add(result.path));
  return best.slice(0, most).map(({ result }) => result);
}
