/** Generates docs/states.svg: the states of a payment and their transitions, from the table of states. */
import { type PaymentEvent, STATE_NAMES, type StateName, transitionsFrom } from '../../src/rules/states.ts';

/** The column and row of each state; the compiler requires a place for a new state. */
const PLACES: Record<StateName, readonly [column: number, row: number]> = {
  PREPARE: [0, 2],
  REDIRECT: [1, 0.6],
  '3DS': [1, 3.4],
  PENDING: [2, 2],
  SETTLED: [3, 1],
  DECLINED: [3, 2],
  VOID: [3, 3],
  REVERSAL: [3, 4],
  EXPIRED: [3, 5],
  REFUND: [4, 0.5],
  CHARGEBACK: [4, 1.5],
};

const [BOX_WIDTH, BOX_HEIGHT] = [118, 44];
const [COLUMN, ROW, MARGIN] = [232, 92, 24];
const WIDTH = MARGIN * 2 + COLUMN * 4 + BOX_WIDTH;
const HEIGHT = MARGIN * 2 + ROW * 5 + BOX_HEIGHT;

/** Decisions of an operator about late successes, and the way back from a chargeback: they would cross other lines. */
const NOT_DRAWN: readonly PaymentEvent[] = ['acceptedLate', 'lateRefunded', 'chargebackReversed'];

interface Arrow {
  from: StateName;
  to: StateName;
  events: PaymentEvent[];
}

function arrows(): Arrow[] {
  return STATE_NAMES.flatMap((from) => {
    const moves = transitionsFrom(from).filter(([event, to]) => to !== from && !NOT_DRAWN.includes(event));
    return [...Map.groupBy(moves, ([, to]) => to)].map(([to, group]) => ({
      from,
      to,
      events: group.map(([one]) => one),
    }));
  });
}

const corner = (state: StateName): [x: number, y: number] => {
  const [column, row] = PLACES[state];
  return [MARGIN + column * COLUMN, MARGIN + row * ROW];
};

const kindOf = (state: StateName): string =>
  state === 'SETTLED' ? 'good' : ['DECLINED', 'EXPIRED', 'CHARGEBACK'].includes(state) ? 'end' : 'box';

const FILLS: Readonly<Record<string, string>> = {
  good: 'fill="#e5f4ec" stroke="#0f6b45"',
  end: 'fill="#fdeceb" stroke="#b3261e"',
  box: 'fill="#f3f4f6" stroke="#818a97"',
};

function box(state: StateName): string {
  const [x, y] = corner(state);
  const kind = kindOf(state);
  return `<rect class="${kind}" x="${x}" y="${y}" width="${BOX_WIDTH}" height="${BOX_HEIGHT}" rx="10" ${FILLS[kind]} stroke-width="1.5"/><text class="state" x="${x + BOX_WIDTH / 2}" y="${y + BOX_HEIGHT / 2 + 5}" text-anchor="middle" font-size="14" font-weight="600" fill="#14181d">${state}</text>`;
}

/** A curve from the right side of one box to the left side of another; its events stand at its end. */
function curve({ from, to }: Arrow): string {
  const [[x1, y1], [x2, y2]] = [corner(from), corner(to)];
  const incoming = arrows().filter((one) => one.to === to);
  const outgoing = arrows().filter((one) => one.from === from);
  const spread = (list: readonly Arrow[]): number => {
    const sorted = list.toSorted((a, b) => rank(a, from) - rank(b, from));
    const at = sorted.findIndex((one) => one.from === from && one.to === to);
    return ((at + 1) / (sorted.length + 1) - 0.5) * (BOX_HEIGHT - 8);
  };
  const [startX, startY] = [x1 + BOX_WIDTH, y1 + BOX_HEIGHT / 2 + spread(outgoing)];
  const [endX, endY] = [x2 - 8, y2 + BOX_HEIGHT / 2 + spread(incoming)];
  const bend = Math.max(40, (endX - startX) / 2);
  return `<path class="line" d="M${startX} ${round(startY)}C${startX + bend} ${round(startY)} ${endX - bend} ${round(endY)} ${endX} ${round(endY)}" fill="none" stroke="#818a97" stroke-width="1.5"/><path class="head" d="M${endX + 8} ${round(endY)}l-9 -4v8z" fill="#818a97"/>`;
}

/** Lines leave and reach a box in the order of the rows of their other ends. */
const rank = (arrow: Arrow, from: StateName): number => PLACES[arrow.from === from ? arrow.to : arrow.from][1];

const round = (value: number): number => Math.round(value * 10) / 10;

/** The events that lead to a state, below its box. */
function caption(state: StateName): string {
  const events = [
    ...new Set(
      arrows()
        .filter(({ to }) => to === state)
        .flatMap((arrow) => arrow.events),
    ),
  ];
  const [x, y] = corner(state);
  const lines: string[] = [];
  for (const event of events) {
    const last = lines.at(-1);
    if (last !== undefined && `${last}, ${event}`.length <= 22) lines[lines.length - 1] = `${last}, ${event}`;
    else lines.push(event);
  }
  return lines
    .map(
      (line, index) =>
        `<text class="event" x="${x + BOX_WIDTH / 2}" y="${y + BOX_HEIGHT + 14 + index * 14}" text-anchor="middle" font-size="12" fill="#565f6b" stroke="#fff" stroke-width="4" paint-order="stroke">${line}${index < lines.length - 1 ? ',' : ''}</text>`,
    )
    .join('');
}

export function statesDiagram(): string {
  const words = arrows().map(({ from, to, events }) => `${from} to ${to}: ${events.join(', ')}.`);
  return `<svg class="diagram" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="states-title states-words" font-family="system-ui, sans-serif">
<title id="states-title">States of a payment</title>
<desc id="states-words">${words.join(' ')}</desc>
<rect class="ground" width="${WIDTH}" height="${HEIGHT}" rx="12" fill="#fff"/>
${arrows().map(curve).join('\n')}
${STATE_NAMES.map((state) => box(state) + caption(state)).join('\n')}
</svg>
`;
}
