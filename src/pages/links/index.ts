/** The pages of links: the form that begins a payment, and the QR code of the address. Opening a link writes nothing. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import encodeQR from 'qr';
import type { Account, Gateway, OpenedLink } from '../../core/context.ts';
import { beginFromLink, readTyped } from '../../core/links/begin.ts';
import type { Obstacle } from '../../core/links/claims.ts';
import { findLink, linkUrl } from '../../core/links/links.ts';
import { linkState } from '../../core/links/state.ts';
import { pngOf } from '../../lib/files/png.ts';
import type { LinkState } from '../../rules/links.ts';
import { codePages } from './code-pages.ts';
import { linkPage, obstaclePage } from './page.ts';

const OBSTACLES: Readonly<Record<LinkState, Obstacle | undefined>> = {
  active: undefined,
  used_up: 'usedUp',
  expired: 'over',
  inactive: 'over',
};

/** The pixels of one square of the code; enough for print. */
const QR_SCALE = 16;

export function linkPages(
  app: FastifyInstance,
  gateway: Gateway,
  addressOf: (request: FastifyRequest) => string,
): void {
  const pages = codePages(app, gateway, {
    addressOf,
    prefix: '/l',
    action: 'link',
    find: (code) => findLink(gateway, code),
  });
  const obstacleOf = (link: OpenedLink, account: Account): Obstacle | undefined =>
    account.isSuspended ? 'over' : OBSTACLES[linkState(link, gateway.clock.now(link.mid))];

  pages.get(async (reply, opened) => {
    const { found, account, context, path, form } = opened;
    const obstacle = obstacleOf(found, account);
    if (obstacle) return pages.show(reply.code(410), context, obstaclePage(context.locale, account, obstacle));
    // The terms of a link do not change.
    return pages.showKept(reply, opened, () => linkPage(found, context.locale, path, { form, problems: new Map() }));
  });

  pages.begin(async ({ found, account, context: { locale }, path, form }) => {
    const obstacle = obstacleOf(found, account);
    if (obstacle) return { status: 410, page: obstaclePage(locale, account, obstacle) };
    const read = readTyped(found, form);
    if (!('problems' in read)) return beginFromLink(gateway, account, found, read);
    return { status: 422, page: linkPage(found, locale, path, { form, ...read }) };
  });

  const picture = (kind: 'svg' | 'png', type: string, draw: (text: string) => string | Buffer): void =>
    pages.get(
      async (reply, { found }) =>
        reply
          .headers({ 'content-type': type, 'cache-control': 'public, max-age=86400' })
          .send(draw(linkUrl(gateway, found))),
      `/qr.${kind}`,
    );
  picture('svg', 'image/svg+xml', (text) => encodeQR(text, 'svg', { border: 4 }));
  picture('png', 'image/png', (text) => pngOf(encodeQR(text, 'raw', { border: 4 }), QR_SCALE));
}
