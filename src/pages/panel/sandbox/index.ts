/** The sandbox console: make payments, play the bank, inject faults, move the clock, watch callbacks. */
import type { PanelRoute } from '../frame/route.ts';
import { controlPages } from './controls.ts';
import { inboxPages } from './inbox.ts';
import { consolePaymentPages } from './payment.ts';
import { consoleRequestPages } from './requests.ts';

export const sandboxPages: readonly PanelRoute[] = [
  ...consolePaymentPages,
  ...consoleRequestPages,
  ...controlPages,
  ...inboxPages,
];
