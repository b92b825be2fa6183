/** Measures reminders: many invoices whose reminder is due at the same moment, sent to a mail server on this machine. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { sendDueReminders } from '../src/core/invoices/reminders.ts';
import { createLog } from '../src/lib/text/log.ts';
import { openGateway } from '../src/server/gateway.ts';
import { connection, masterKey, newMerchant, progress, rows, startServer, wal } from './harness.ts';

const INVOICES = Number(process.env.BENCH_INVOICES ?? 100_000);
const HOUR_SECONDS = 3600;

/** Accepts e-mails, counts them and forgets them. */
async function startMailSink() {
  let received = 0;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    authOptional: true,
    logger: false,
    onData(stream, _session, done) {
      stream.resume();
      stream.on('end', () => {
        received++;
        done();
      });
    },
  });
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, count: () => received, close: () => server.close(() => {}) };
}

/** Invoices that are due in three days, with their first reminder due now. */
const fillTable = (mid: string): Promise<unknown> =>
  wal.query(
    `insert into invoices (mid, invoice_id, code, sequence, currency, lines, payer, note, due_on, total, tax, created_at,
       due_at)
     select $1, gen_random_uuid(), substr(md5(n::text), 1, 14), n, 'EUR',
       '[{"description": "Teapot", "quantity": "2", "unitAmount": "1000", "taxPercent": "19", "net": "2000", "tax": "380"}]',
       jsonb_build_object('name', 'Ana Petrovic', 'email', 'ana' || n || '@example.com'), '',
       to_char(now() at time zone 'utc' + interval '3 days', 'YYYY-MM-DD'), 2380, 380, now(), now()
     from generate_series(1, $2::int) n`,
    [mid, INVOICES],
  );

/** Returns an hour divided by the time of 100,000 reminders at the measured rate. */
export async function measureInvoices(): Promise<number> {
  const sink = await startMailSink();
  const server = await startServer('gateway');
  const { mid } = await newMerchant(server.url as URL, { invoice_reminders: true });
  await server.stop();
  progress(`(i) writing ${INVOICES.toLocaleString('en')} invoices`);
  await fillTable(mid);
  const log = createLog('silent', { write: () => undefined });
  const mail = { url: sink.url, from: 'invoices@pay.example' };
  const { gateway, close } = await openGateway({ connection, environment: 'sandbox', masterKey, log, mail });
  const started = performance.now();
  const cpu = process.cpuUsage();
  await sendDueReminders(gateway, () => false);
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  await close();
  sink.close();
  if (sink.count() !== INVOICES) throw new Error(`${sink.count()} of ${INVOICES} reminders were sent.`);
  const perCore = (INVOICES * 1e6) / (user + system);
  const name = `(i) reminders of ${INVOICES.toLocaleString('en')} invoices`;
  rows.push({ name, perSecond: INVOICES / seconds, perCore });
  return (HOUR_SECONDS * INVOICES) / seconds / 100_000;
}
