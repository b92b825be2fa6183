/** The routes that the gateway and the provider simulator register: the fuzz sends requests to each of them. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import { startSimulator } from '../../simulator/server.ts';
import type { Gateway } from '../../src/core/context.ts';
import { createApp } from '../../src/server/app.ts';
import type { Route } from './model.ts';

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** `/pay/:link` and `/pay/{link}` have the same key. */
export const routeKey = (method: string, path: string): string =>
  `${method.toUpperCase()} ${path.replace(/:\w+|\{\w+\}/g, '{}')}`;

/** The routes of the servers that are created meanwhile. */
async function registered(server: Route['server'], create: () => Promise<unknown>): Promise<Route[]> {
  const routes = new Map<string, Route>();
  const onCreated = (message: unknown): void => {
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url: path }) => {
      for (const each of [method].flat()) {
        const key = routeKey(each, path);
        if (METHODS.has(each)) routes.set(key, { server, method: each, path, key });
      }
    });
  };
  subscribe('fastify.initialization', onCreated);
  try {
    await create();
  } finally {
    unsubscribe('fastify.initialization', onCreated);
  }
  return [...routes.values()];
}

export async function routesOf(gateway: Gateway): Promise<Route[]> {
  const options = { isTrustedProxy: () => false, adminTokenDigest: Buffer.alloc(32), takesRequests: true };
  const ours = await registered('gateway', async () => {
    const app = createApp(gateway, options);
    await app.ready();
    await app.close();
  });
  const access = { host: '127.0.0.1', port: 0, key: 'unused', notificationSecret: '' };
  const simulated = await registered('simulator', async () => (await startSimulator(access)).close());
  return [...ours, ...simulated];
}
