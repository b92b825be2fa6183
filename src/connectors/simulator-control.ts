/** The client for the control API of the provider simulator: sets outcomes and faults. */
import { isObject } from '../lib/text/json.ts';
import type { ProviderAccess } from './upstream.ts';

export interface ControlAnswer {
  status: number;
  body: Record<string, unknown>;
}

export interface Simulator {
  control(method: 'GET' | 'POST', path: string, body?: unknown): Promise<ControlAnswer>;
}

export function createSimulatorControl({ url, key }: ProviderAccess): Simulator {
  return {
    async control(method, path, body) {
      const response = await fetch(`${url}/control${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(15_000),
      });
      const answer: unknown = await response.json();
      return { status: response.status, body: isObject(answer) ? answer : {} };
    },
  };
}
