/** The delivery states of callbacks as people call them. */
import type { Html } from '../../../lib/text/html.ts';
import { CALLBACK_STATES, NO_CALLBACK_ADDRESS } from '../../../rules/callbacks.ts';
import { badge, toneOf } from '../frame/parts.ts';
import { panelTexts } from '../locales/index.ts';

type CallbackState = (typeof CALLBACK_STATES)[number];

/** A callback that was given up without an attempt has no address: that is no failure. */
export const stateBadge = ({ state, attempts }: { state: CallbackState; attempts: number }): Html =>
  state === 'parked' && attempts === 0
    ? badge(panelTexts.callbacks.notSent, '')
    : badge(panelTexts.callbacks.states[state], toneOf(state));

export const stateChoices = (): [string, string][] =>
  CALLBACK_STATES.map((state) => [state, panelTexts.callbacks.states[state]]);

export const typeName = (type: string): string =>
  (panelTexts.callbacks.types as Readonly<Record<string, string>>)[type] ?? type;

/** Why a callback is not sent; what a server answered is shown as it is. */
export const reasonText = (reason: string | null): string | undefined =>
  reason === NO_CALLBACK_ADDRESS ? panelTexts.callbacks.noAddress : (reason ?? undefined);
