/** The log: JSON lines, or pretty-printed on a terminal; every line with texts from outside passes the scrubber. */
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import { scrub } from './scrub.ts';

export interface LogTarget {
  write(line: string): void;
}

/** What the log keeps of a request: names from tables and ids. */
export interface RequestLine {
  id: string;
  action: string;
  outcome: string;
  status: number;
  mid: string | undefined;
  paymentId: string | undefined;
  ms: number;
}

export type Log = Logger & {
  /** Writes the line of a request. With ids of our own, nothing in it comes from outside, and it is not scrubbed. */
  request(level: 'info' | 'debug', line: RequestLine): void;
};

/** Name, message, code and stack only: PostgreSQL puts row values into the other properties of its errors. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    stack: error.stack,
  };
}

let lastMs = Number.NaN;
let lastTime = '';

/** The lines of a tick are written together, so that most have the time of the line before. */
function timestamp(): string {
  const now = Date.now();
  if (now !== lastMs) {
    lastMs = now;
    lastTime = `,"time":"${new Date(now).toISOString()}"`;
  }
  return lastTime;
}

/** A UUID of version 7, as this gateway makes them, or none. */
const OWN_ID = /^(?:[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12})?$/;

const idField = (name: string, id: string): string => (id === '' ? '' : `,"${name}":"${id}"`);

export function createLog(level: string, target: LogTarget): Log {
  const log = pino(
    {
      level,
      base: null,
      timestamp,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
    },
    { write: (line) => target.write(scrub(line)) },
  );
  return Object.assign(log, {
    request(level: 'info' | 'debug', { id, action, outcome, status, mid = '', paymentId = '', ms }: RequestLine): void {
      if (!log.isLevelEnabled(level)) return;
      if (!OWN_ID.test(mid) || !OWN_ID.test(paymentId)) {
        log[level](
          { request_id: id, action, outcome, status, mid: mid || undefined, payment_id: paymentId || undefined, ms },
          'request',
        );
        return;
      }
      const names = `"action":${JSON.stringify(action)},"outcome":${JSON.stringify(outcome)},"status":${status}`;
      const ids = idField('mid', mid) + idField('payment_id', paymentId);
      target.write(
        `{"level":"${level}"${timestamp()},"request_id":"${id}",${names}${ids},"ms":${ms},"msg":"request"}\n`,
      );
    },
  });
}

/** Standard output: buffered JSON, or unbuffered pretty-printed lines on a terminal. */
export function standardOutput(): LogTarget & { flush(): void } {
  if (process.stdout.isTTY) {
    const stream = pretty({
      colorize: true,
      sync: true,
      translateTime: 'SYS:HH:MM:ss.l',
      singleLine: true,
      // The line of a request begins with its action and outcome.
      messageFormat: (line, message) =>
        line.action === undefined
          ? String(line[message])
          : `${line.action} ${line.outcome} (${line.status}, ${line.ms} ms)`,
      ignore: 'action,outcome,status,ms',
    });
    return { write: (line) => void stream.write(line), flush: () => undefined };
  }
  const destination = pino.destination({ fd: 1, sync: false, maxWrite: 65_536 });
  // The destination counts the bytes of what it holds at every write, so it gets many lines at a time.
  let lines = '';
  const pass = (): void => {
    if (lines !== '') destination.write(lines);
    lines = '';
  };
  const timer = setInterval(pass, 250);
  timer.unref();
  return {
    write(line) {
      lines += line;
      if (lines.length >= 32_768) pass();
    },
    flush() {
      pass();
      destination.flushSync();
    },
  };
}
