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

/**
 * The sections that contain all words of the query, best first. The script of the pages contains the source of this
 * function, so it uses nothing from outside.
 */
export function findSections(index: readonly SearchEntry[], query: string, most: number): SearchResult[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 8);
  if (words.length === 0) return [];
  const scored = index.flatMap((entry) => {
    const [title, heading, text] = [entry.title, entry.heading, entry.text].map((part) => part.toLowerCase()) as [
      string,
      string,
      string,
    ];
    let score = 0;
    for (const word of words) {
      const isTitle = title.includes(word);
      const isHeading = heading.includes(word);
      const times = text.split(word).length - 1;
      if (!isTitle && !isHeading && times === 0) return [];
      score += (isHeading ? 12 : 0) + (isTitle ? 6 : 0) + Math.min(times, 5);
    }
    const phrase = words.join(' ');
    if (heading === phrase || (heading === title && title === phrase)) score += 40;
    else if (heading.includes(phrase)) score += 10;
    else if (words.length > 1 && text.includes(phrase)) score += 15;
    const first = words.map((word) => text.indexOf(word)).filter((at) => at >= 0);
    const from = first.length === 0 ? 0 : Math.max(0, Math.min(...first) - 60);
    const begin = from === 0 ? 0 : entry.text.indexOf(' ', from) + 1;
    const end = entry.text.length - begin <= 180 ? entry.text.length : entry.text.lastIndexOf(' ', begin + 180);
    const excerpt = `${begin > 0 ? '… ' : ''}${entry.text.slice(begin, end)}${end < entry.text.length ? ' …' : ''}`;
    return [{ score, result: { path: entry.path, title: entry.title, heading: entry.heading, excerpt } }];
  });
  scored.sort((a, b) => b.score - a.score);
  return scored.slice(0, most).map(({ result }) => result);
}
