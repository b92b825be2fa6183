/** The operator's data for risk rules: ranges of card numbers, and networks of IP addresses. */
import { sql } from 'kysely';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import type { Database } from '../database/database.ts';

export interface BinRange {
  /** Padded to twelve digits. */
  firstNumber: bigint;
  lastNumber: bigint;
  network: string | null;
  country: string | null;
  funding: string | null;
  issuer: string | null;
}

export interface IpNetwork {
  network: string;
  country: string;
}

export interface RiskDataStore {
  /** Replaces all ranges. */
  replaceBins(ranges: readonly BinRange[], audit: AuditEntry): Promise<void>;
  replaceNetworks(networks: readonly IpNetwork[], audit: AuditEntry): Promise<void>;
  bins(limit: number, after?: bigint): Promise<BinRange[]>;
  networks(limit: number, after?: string): Promise<IpNetwork[]>;
}

const PORTION = 5000;

const INSERT_BINS = `insert into risk_bins (first_number, last_number, network, country, funding, issuer)
  select * from jsonb_to_recordset($1::jsonb) as i(first_number bigint, last_number bigint, network text, country text,
    funding text, issuer text)`;
const INSERT_NETWORKS = `insert into risk_ip_countries (network, country)
  select * from jsonb_to_recordset($1::jsonb) as i(network text, country text)`;

export function createRiskDataStore({ pool, query }: Database): RiskDataStore {
  async function replace(table: string, insert: string, rows: readonly object[], audit: AuditEntry): Promise<void> {
    await query.transaction().execute(async (transaction) => {
      await sql.raw(`delete from ${table}`).execute(transaction);
      for (let start = 0; start < rows.length; start += PORTION) {
        const portion = JSON.stringify(rows.slice(start, start + PORTION));
        const [before, after] = insert.split('$1::jsonb') as [string, string];
        await sql`${sql.raw(before)}${portion}::jsonb${sql.raw(after)}`.execute(transaction);
      }
      await appendAudit(transaction, audit);
    });
  }
  return {
    replaceBins: (ranges, audit) =>
      replace(
        'risk_bins',
        INSERT_BINS,
        ranges.map(({ firstNumber, lastNumber, network, country, funding, issuer }) => ({
          first_number: firstNumber.toString(),
          last_number: lastNumber.toString(),
          network,
          country,
          funding,
          issuer,
        })),
        audit,
      ),
    replaceNetworks: (networks, audit) => replace('risk_ip_countries', INSERT_NETWORKS, networks, audit),
    async bins(limit, after) {
      const { rows } = await pool.query<BinRange>(
        `select first_number as "firstNumber", last_number as "lastNumber", network, country, funding, issuer
         from risk_bins where first_number > $1 order by first_number limit $2`,
        [(after ?? -1n).toString(), limit],
      );
      return rows;
    },
    async networks(limit, after) {
      const { rows } = await pool.query<IpNetwork>(
        'select network, country from risk_ip_countries where network > $1 order by network limit $2',
        [after ?? '', limit],
      );
      return rows;
    },
  };
}
