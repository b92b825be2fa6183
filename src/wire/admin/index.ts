/** The admin API: JSON for operators, behind one bearer token. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { readOptionalJson, requireBearer } from '../bearer.ts';
import { accountRoutes } from './accounts.ts';
import { callbackRoutes } from './callbacks.ts';
import { clockRoutes } from './clock.ts';
import { paymentExportRoutes } from './payment-export.ts';
import { notificationRoutes, paymentRoutes } from './payments.ts';
import { scheduleRoutes } from './schedules.ts';

export function adminRoutes(app: FastifyInstance, gateway: Gateway, isToken: (digest: Buffer) => boolean): void {
  requireBearer(app, 'admin', isToken);
  readOptionalJson(app);
  accountRoutes(app, gateway);
  paymentRoutes(app, gateway);
  paymentExportRoutes(app, gateway);
  notificationRoutes(app, gateway);
  callbackRoutes(app, gateway);
  scheduleRoutes(app, gateway);
  if (gateway.environment === 'sandbox') clockRoutes(app, gateway);
}
