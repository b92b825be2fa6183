/** Routes for providers: verifies signed notifications, stores them, and acknowledges them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { connectorOf } from '../../core/connections/connectors.ts';
import { paymentIdOf } from '../../core/connections/provider-data.ts';
import type { Gateway } from '../../core/context.ts';
import { applyChallengeResult } from '../../core/payments/challenge.ts';
import { acceptedEvents, readNotifications, receiveNotifications } from '../../core/payments/notifications.ts';
import { isUuid } from '../../lib/crypto/id.ts';
import { connectionKey, splitConnectionKey } from '../../rules/connectors.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { createNotificationLimits } from '../request-limits.ts';

const EMPTY = Buffer.alloc(0);
const LIMITED = { bodyLimit: LIMITS.notificationBytes };

const RESULT_RESPONSE = { messageType: 'RRes', resultsStatus: '01' } as const;
const UNKNOWN_TRANSACTION = {
  messageType: 'Erro',
  errorComponent: 'S',
  errorMessageType: 'RReq',
  errorCode: '301',
  errorDescription: 'Transaction ID not recognised.',
  errorDetail: 'threeDSServerTransID, acsTransID',
} as const;

export function inboundRoutes(
  app: FastifyInstance,
  gateway: Gateway,
  addressOf: (request: FastifyRequest) => string,
): void {
  const limits = createNotificationLimits(gateway);
  app.addHook('onRequest', (request, _reply, done) => {
    request.action = 'notification';
    limits.countAddress(addressOf(request));
    done();
  });
  // The signature covers the raw bytes, so it is verified before they are parsed.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));

  app.post('/inbound/3ds', LIMITED, async (request) => {
    request.action = '3ds result';
    const result = gateway.threeDs?.readResult(
      request.headers,
      (request.body as Buffer | undefined) ?? EMPTY,
      Date.now(),
    );
    if (!result) throw new Refusal('wrongSignature');
    if (isUuid(result.transId)) request.paymentId = result.transId;
    const isApplied = await applyChallengeResult(gateway, result);
    request.outcome = isApplied ? 'applied' : 'unknown';
    const { transId, acsTransId, authentication } = result;
    const ids = { threeDSServerTransID: transId, acsTransID: acsTransId, dsTransID: authentication.dsTransId };
    return {
      messageVersion: authentication.protocolVersion,
      ...ids,
      ...(isApplied ? RESULT_RESPONSE : UNKNOWN_TRANSACTION),
    };
  });

  const receive = async (request: FastifyRequest, reply: FastifyReply, key: string): Promise<unknown> => {
    const connector = await connectorOf(gateway, key);
    if (!connector) throw new Refusal('unknownRoute');
    // The own provider is trusted, and its notifications are as many as its payments.
    if (splitConnectionKey(key).connectionId !== null) limits.countConnection(key);
    const body = (request.body as Buffer | undefined) ?? EMPTY;
    const events = await readNotifications(connector, request.headers, body);
    if (!events) {
      gateway.metrics.notificationRefused(key);
      throw new Refusal('wrongSignature');
    }
    const [first] = events;
    request.paymentId = first?.reference === undefined ? undefined : paymentIdOf(first.reference);
    const accepted = await acceptedEvents(gateway, key, events);
    for (const { isUnsigned, providerReference = '' } of accepted)
      if (isUnsigned) limits.countUnsigned(key, providerReference);
    await receiveNotifications(gateway, key, accepted);
    request.outcome = accepted.length === events.length ? 'kept' : 'unknown';
    const { notificationAnswer } = connector;
    return notificationAnswer === undefined ? { result: 'SUCCESS' } : reply.type('text/plain').send(notificationAnswer);
  };

  app.post<{ Params: { connector: string } }>('/inbound/:connector', LIMITED, (request, reply) =>
    receive(request, reply, request.params.connector),
  );

  app.post<{ Params: { connector: string; connectionId: string } }>(
    '/inbound/:connector/:connectionId',
    LIMITED,
    (request, reply) =>
      receive(request, reply, connectionKey(request.params.connector, request.params.connectionId.toLowerCase())),
  );
}
