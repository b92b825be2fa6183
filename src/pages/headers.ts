/** The headers of pages that load nothing from another server and run only their own scripts. */
import { commonHeaders, type GatewayInfo } from './layout.ts';

export interface PageSources {
  /** The hashes of the scripts and of the style sheet, as sources of the content security policy. */
  scripts: readonly string[];
  style: string;
  hasFrames?: boolean;
}

export const strictHeaders = (
  gateway: GatewayInfo,
  { scripts, style, hasFrames = false }: PageSources,
): Record<string, string> => ({
  ...commonHeaders(gateway),
  'content-type': 'text/html; charset=utf-8',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': [
    "default-src 'none'",
    `script-src ${scripts.join(' ')}`,
    `style-src ${style}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    ...(hasFrames ? ["frame-src 'self'"] : []),
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
});
