/** The events and statuses of providers as tables: what the gateway does with each, and why it does nothing with some. */
import { cut } from '../lib/text/cut.ts';

/** The event is not carried out: the operator has to look at it, or it is only acknowledged. */
export interface UnhandledEvent {
  about: 'attention' | 'nothing';
  because: string;
}

/** An event or a status that a connector does not handle, for the docs. */
export interface Unhandled {
  /** The provider's name; with `*` at its end, all others that begin so. */
  name: string;
  /** `attention`: on the operator's list; `ignored`: no effect; `open`: the outcome is not known yet. */
  effect: 'attention' | 'ignored' | 'open';
  because: string;
}

export interface EventTable<Event> {
  eventOf(type: string): Event | UnhandledEvent;
  unhandled: readonly Unhandled[];
}

const NEW: UnhandledEvent = { about: 'attention', because: 'The gateway does not know it: money may have moved.' };
const OTHER: UnhandledEvent = { about: 'nothing', because: 'It is not about a payment of the gateway.' };

const unhandled = (name: string, { about, because }: UnhandledEvent): Unhandled => ({
  name,
  effect: about === 'attention' ? 'attention' : 'ignored',
  because,
});

/** `families`: how the types of events about payments begin; a new one of them goes to the operator, any other is ignored. */
export function eventTable<Event extends { about: string }>(
  events: Readonly<Record<string, Event | UnhandledEvent>>,
  families: readonly string[],
): EventTable<Event> {
  return {
    eventOf: (type) =>
      (Object.hasOwn(events, type) ? events[type] : undefined) ??
      (families.some((family) => type.startsWith(family)) ? NEW : OTHER),
    unhandled: [
      ...Object.entries(events).flatMap(([type, event]) => ('because' in event ? unhandled(type, event) : [])),
      ...families.map((family) => unhandled(`${family}*`, NEW)),
      ...(families.includes('') ? [] : [unhandled('*', OTHER)]),
    ],
  };
}

/** Statuses that leave an outcome open, with the reason. */
export type OpenStatuses = Readonly<Record<string, string>>;

const NEW_STATUS: Unhandled = {
  name: 'any new status',
  effect: 'attention',
  because: 'The gateway does not know it; while the payment is open, it is queried for a day first.',
};

export const unhandledStatuses = (statuses: OpenStatuses = {}): Unhandled[] => [
  ...Object.entries(statuses).map(([name, because]): Unhandled => ({ name, effect: 'open', because })),
  NEW_STATUS,
];

const STATUS_LENGTH = 100;

/** The outcome of a status that the connector does not handle. */
export const leftOpen = (status: unknown, known: OpenStatuses = {}): { kind: 'unknown'; newStatus?: string } =>
  Object.hasOwn(known, String(status))
    ? { kind: 'unknown' }
    : { kind: 'unknown', newStatus: cut(String(status), STATUS_LENGTH) };
