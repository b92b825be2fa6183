/** Answers to the scripts of the pages. */
import type { FastifyReply } from 'fastify';
import { commonHeaders, type GatewayInfo } from '../layout.ts';

export const sendJson = (reply: FastifyReply, gateway: GatewayInfo, body: object): FastifyReply =>
  reply
    .headers({ ...commonHeaders(gateway), 'content-type': 'application/json; charset=utf-8' })
    .send(JSON.stringify(body));
