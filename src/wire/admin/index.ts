/** The admin API: JSON for operators, behind bearer tokens with roles. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { type Access, readOptionalJson, requireBearer } from '../bearer.ts';
import { accountRoutes } from './accounts.ts';
import { auditRoutes } from './audit.ts';
import { callbackRoutes } from './callbacks.ts';
import { chargebackRoutes } from './chargebacks.ts';
import { clockRoutes } from './clock.ts';
import { accountRouteRoutes, connectionRoutes } from './connections.ts';
import { erasureRoutes } from './erasure.ts';
import { explainRoutes } from './explain.ts';
import { paymentExportRoutes } from './payment-export.ts';
import { notificationRoutes, paymentRoutes } from './payments.ts';
import { reconciliationRoutes } from './reconciliations.ts';
import { reportRoutes } from './reports.ts';
import { requestRoutes } from './requests.ts';
import { scheduleRoutes } from './schedules.ts';
import { tokenRoutes } from './tokens.ts';

export function adminRoutes(app: FastifyInstance, gateway: Gateway, access: Access): void {
  requireBearer(app, 'admin', access);
  readOptionalJson(app);
  tokenRoutes(app, gateway);
  auditRoutes(app, gateway);
  accountRoutes(app, gateway);
  connectionRoutes(app, gateway);
  accountRouteRoutes(app, gateway);
  paymentRoutes(app, gateway);
  paymentExportRoutes(app, gateway);
  erasureRoutes(app, gateway);
  notificationRoutes(app, gateway);
  callbackRoutes(app, gateway);
  chargebackRoutes(app, gateway);
  scheduleRoutes(app, gateway);
  explainRoutes(app, gateway);
  requestRoutes(app, gateway);
  reportRoutes(app, gateway);
  reconciliationRoutes(app, gateway);
  if (gateway.environment === 'sandbox') clockRoutes(app, gateway);
}
