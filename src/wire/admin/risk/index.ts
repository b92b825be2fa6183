/** Admin calls on risk: lists, rules, back-tests, reviews and the operator's data. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../../core/context.ts';
import { backTestRoutes } from './back-tests.ts';
import { dataRoutes } from './data.ts';
import { listRoutes } from './lists.ts';
import { reviewRoutes } from './reviews.ts';
import { ruleRoutes } from './rules.ts';

export function riskRoutes(app: FastifyInstance, gateway: Gateway): void {
  listRoutes(app, gateway);
  ruleRoutes(app, gateway);
  backTestRoutes(app, gateway);
  reviewRoutes(app, gateway);
  dataRoutes(app, gateway);
}
