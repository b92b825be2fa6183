/** The face for providers: takes their signed news, keeps them, and says so. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { applyResult } from '../../core/payments/authenticate.ts';
import { readNews, receiveNews } from '../../core/payments/news.ts';
import { isUuid } from '../../lib/id.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';

const EMPTY = Buffer.alloc(0);

export function inboundFace(app: FastifyInstance, gateway: Gateway): void {
  // The signature covers the bytes as they were sent, so nothing may read them before it is checked.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));

  app.post('/inbound/3ds', { bodyLimit: LIMITS.newsBytes }, async (request) => {
    request.action = '3ds result';
    const result = gateway.threeDs?.readResult(
      request.headers,
      (request.body as Buffer | undefined) ?? EMPTY,
      Date.now(),
    );
    if (!result) throw new Refusal('wrongSignature');
    request.paymentId = result.transId;
    await applyResult(gateway, result);
    request.outcome = 'applied';
    const { transId: threeDSServerTransID } = result;
    return { messageType: 'RRes', messageVersion: '2.2.0', threeDSServerTransID, resultsStatus: '01' };
  });

  app.post<{ Params: { connector: string } }>(
    '/inbound/:connector',
    { bodyLimit: LIMITS.newsBytes },
    async (request) => {
      request.action = 'news';
      const { connector } = request.params;
      if (!Object.hasOwn(gateway.connectors, connector)) throw new Refusal('unknownRoute');
      const news = readNews(gateway, connector, request.headers, (request.body as Buffer | undefined) ?? EMPTY);
      if (!news) throw new Refusal('wrongSignature');
      if (isUuid(news.reference)) request.paymentId = news.reference;
      await receiveNews(gateway, connector, news);
      request.outcome = 'kept';
      return { result: 'SUCCESS' };
    },
  );
}
