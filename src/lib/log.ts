/** The log: JSON lines, or pretty-printed on a terminal; every line passes the scrubber. */
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import { scrub } from './scrub.ts';

export interface LogTarget {
  write(line: string): void;
}

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

export function createLog(level: string, target: LogTarget): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
    },
    { write: (line) => target.write(scrub(line)) },
  );
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
  const destination = pino.destination({ fd: 1, sync: false, minLength: 32_768, maxWrite: 65_536 });
  const timer = setInterval(() => destination.flush(), 250);
  timer.unref();
  return { write: (line) => void destination.write(line), flush: () => destination.flushSync() };
}
