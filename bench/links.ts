/** Measures payment links in a large table: how fast they are made, and how fast the page of one link is opened. */
import { wireHash } from '../src/lib/crypto/hash.ts';
import { type Merchant, measure, newMerchant, progress, type Row, type Server, startServer, wal } from './harness.ts';
import { request } from './load.ts';
import { postgresCpu } from './postgres-cpu.ts';

const LINKS = Number(process.env.BENCH_LINKS ?? 1_000_000);
/** An account makes at most 600 links a minute. */
const ACCOUNTS = 60;
const LINKS_PER_ACCOUNT = 500;
const WARM_UP = 4;

const linkBody = ({ merchant_key, password }: Merchant): string => {
  const terms = { title: 'Tea of the month', amount: '19.99', currency: 'EUR', description: 'A pot of tea' };
  const hash = wireHash(Object.values(terms), password);
  return JSON.stringify({ merchant_key, ...terms, uses: 100, ask: ['name', 'email'], hash });
};

const fillTable = async ({ mid }: Merchant): Promise<void> => {
  progress(`(l) writing ${LINKS.toLocaleString('en')} links`);
  await wal.query(
    `insert into links (mid, link_id, code, title, description, currency, amount, uses, methods, locale, success_url, ask,
       is_authorisation, order_prefix, created_at)
     select $1, gen_random_uuid(), substr(md5(n::text), 1, 14), 'Tea of the month', 'A pot of tea', 'EUR', 1999, 100, '{}',
       '', '', '{name,email}', false, '', now() from generate_series(1, $2::int) n`,
    [mid, LINKS],
  );
  await wal.query('analyze links');
};

async function newLink(server: Server, merchant: Merchant): Promise<string> {
  const response = await fetch(new URL('/api/v1/link', server.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: linkBody(merchant),
  });
  return new URL(((await response.json()) as { url: string }).url).pathname;
}

async function measureCreation(server: Server): Promise<Row> {
  const merchants: Merchant[] = [];
  while (merchants.length < ACCOUNTS) merchants.push(await newMerchant(server.url as URL));
  let next = 0;
  return measure('(l) making links', server, () => linkBody(merchants[next++ % ACCOUNTS] as Merchant), {
    warmUp: 0,
    requests: ACCOUNTS * LINKS_PER_ACCOUNT,
    write: (body) => request('/api/v1/link', body, 'application/json'),
  });
}

/** Returns how often two cores open the page of one link in a second, by the CPU time of the gateway and PostgreSQL. */
export async function measureLinks(): Promise<number> {
  const server = await startServer('gateway');
  const merchant = await newMerchant(server.url as URL, { branding: { name: 'Tea & Sons', colour: '#1a7f5a' } });
  await fillTable(merchant);
  const path = await newLink(server, merchant);
  const open = (name: string, headers: string, warmUp: number): Promise<Row> =>
    measure(name, server, () => `GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept-language: de\r\n${headers}\r\n`, {
      warmUp,
      write: (text) => Buffer.from(text),
    });
  await open('(l) the page of one link, not compressed', '', WARM_UP);
  const brotli = 'accept-encoding: gzip, br\r\n';
  // The first run is the warm-up, so that only measured requests count in the CPU time of PostgreSQL.
  await open('(l) the page of one link, first run', brotli, WARM_UP);
  const cpu = async () => ({ postgres: (await postgresCpu(wal)).all, gateway: (await server.usage()).cpuSeconds });
  const before = await cpu();
  const { perCore = 0 } = await open('(l) the page of one link', brotli, 0);
  const after = await cpu();
  const [postgres, gateway] = [after.postgres - before.postgres, after.gateway - before.gateway];
  progress(`(l) CPU seconds: gateway ${gateway.toFixed(1)}, PostgreSQL ${postgres.toFixed(1)}`);
  await measureCreation(server);
  await server.stop();
  return (2 * perCore * gateway) / (gateway + postgres);
}
