import process from 'node:process';
import type { Pool } from 'pg';
import { columns } from '../bench/report.js';

/** Writes a line. */
export const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Prints how long reads of a projection take. */
export async function timeReads(pool: Pool, template: string): Promise<void> {
  const few = `SELECT * FROM contracts.active('${template}') WHERE payload #>> '{amount,createdAt,number}' = '1'`;
  await time(pool, 'some contracts by payload, without an index', few);
  const expression = "(payload #>> ''{amount,createdAt,number}'')";
  await pool.query(`SELECT contracts.create_index_for_contract('by_number', '${template}', '${expression}')`);
  await pool.query('ANALYZE');
  await time(pool, 'the same with an index', few);
  await time(pool, 'a page of them', `${few} LIMIT 100`);
  await time(pool, 'how many of a template', `SELECT count(*) FROM contracts.active('${template}')`);
  const { rows } = await pool.query<{ contract_id: string }>(
    `SELECT contract_id FROM contracts.active('${template}') LIMIT 1`,
  );
  await time(pool, 'a contract', `SELECT * FROM contracts.lookup_contract('${rows[0]?.contract_id ?? ''}')`);
  await time(pool, 'the offset', 'SELECT contracts.latest_offset()');
}

/** Prints the median of nine runs of a query. */
async function time(pool: Pool, what: string, sql: string): Promise<void> {
  const times: number[] = [];
  let found = 0;
  for (let run = 0; run < 9; run += 1) {
    const startedAt = performance.now();
    const { rows } = await pool.query(sql);
    times.push(performance.now() - startedAt);
    found = rows.length;
  }
  const median = times.sort((a, b) => a - b)[4] ?? NaN;
  print(`${what}: ${median.toFixed(1)} ms, ${found} rows`);
}

/** The statements that took most of the time of the database, without those that make tables. */
export async function topStatements(pool: Pool, what: string): Promise<string> {
  const { rows } = await pool.query<Record<'calls' | 'mean' | 'total' | 'rows' | 'within' | 'query', string>>(
    `SELECT calls, round(mean_exec_time::numeric, 3) AS mean, round(total_exec_time::numeric, 1) AS total, rows,
      CASE WHEN toplevel THEN '' ELSE 'yes' END AS within,
      regexp_replace(query, '\\s+', ' ', 'g') AS query
      FROM pg_stat_statements JOIN pg_database ON dbid = oid
      WHERE datname = current_database() AND query !~ 'pg_stat_statements|^\\s*(CREATE|DO|ALTER|COMMENT) ' ORDER BY total_exec_time DESC LIMIT 16`,
  );
  const lines = rows.map(({ calls, mean, total, rows: count, within, query }) => [
    calls,
    mean,
    total,
    count,
    within,
    query.length > 200 ? `${query.slice(0, 200)}...` : query,
  ]);
  return `\nthe statements of ${what}\n${columns([['calls', 'mean ms', 'total ms', 'rows', 'in a function', 'statement'], ...lines])}\n`;
}
