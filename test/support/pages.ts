/** Checks of the payer’s pages: their content without the script, and their security headers. */
import { hash } from 'node:crypto';
import { expect } from 'vitest';
import { CHALLENGE_SCRIPT, SCRIPT, SHARE_SCRIPT } from '../../src/pages/script.ts';

/** A page without the scripts of the gateway. */
export const withoutScript = (page: string): string =>
  [SCRIPT, CHALLENGE_SCRIPT, SHARE_SCRIPT].reduce(
    (text, script) => text.replace(`<script>${script}</script>`, ''),
    page,
  );

/** The text that this HTML stands for. */
export const unescaped = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** The visible text, without tags, style and script. */
export const readable = (page: string): string =>
  withoutScript(page)
    .replace(/<style>[\s\S]*?<\/style>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();

/** The directives of a page’s content security policy by name. */
export const policyOf = (headers: Headers): Map<string, string> =>
  new Map(
    (headers.get('content-security-policy') ?? '').split('; ').map((rule) => {
      const [name = '', ...values] = rule.split(' ');
      return [name, values.join(' ')];
    }),
  );

const hashesOf = (page: string, tag: string): string =>
  [...page.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))]
    .map(([, text]) => `'sha256-${hash('sha256', text as string, 'base64')}'`)
    .join(' ');

/** A page restricts its content, forbids caching and sends no referrer. */
export function expectSafe({ headers, text }: { headers: Headers; text: string }): void {
  const policy = policyOf(headers);
  expect(policy.get('default-src')).toBe("'none'");
  expect(policy.get('base-uri')).toBe("'none'");
  expect(policy.get('connect-src')).toBe("'self'");
  expect(policy.get('require-trusted-types-for')).toBe("'script'");
  expect([...policy.values()].join(' ')).not.toMatch(/unsafe|\*/);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('permissions-policy')).toMatch(/^payment=\(self\), (\w+(-\w+)*=\(\)(, |$))+$/);
  if (text === '') return;
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(text).toContain(`<script>${SCRIPT}</script>`);
  expect(policy.get('script-src')).toBe(hashesOf(text, 'script'));
  expect(policy.get('style-src')).toBe(hashesOf(text, 'style'));
  expect(withoutScript(text)).not.toMatch(/\sstyle="|\son\w+="|<script|javascript:/);
}
