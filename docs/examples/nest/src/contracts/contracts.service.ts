import { Inject, Injectable, NotFoundException, ServiceUnavailableException } from '@nestjs/common';
import type { Offset } from 'canton-rx';
import type { Pool } from 'pg';
import { POOL } from '../database/pool.js';
import { Reached } from './reached.js';
import type { ContractsQuery } from './contracts-query.js';
import { historyOf, type ContractEvent, type ExerciseRow } from './history.js';
import { answering } from './query-failed.js';
import { contractColumns, contractOf, type ContractRow, type StoredContract } from './stored-contract.js';

/** Active contracts at an offset. */
export interface ContractsPage {
  /** The offset at which they are read. The pages after this one are of the same offset. */
  readonly offset: Offset;
  readonly contracts: readonly StoredContract[];
  /** For the next page: `after=…`; `null` if there is none. */
  readonly next: string | null;
}

/** The number of active contracts of each template. */
export interface Summary {
  readonly offset: Offset;
  readonly templates: readonly { readonly type: string | null; readonly template: string; readonly count: number }[];
}

/** A contract and what happened to it, in the order of the ledger. */
export type ContractWithHistory = StoredContract & { readonly history: readonly ContractEvent[] };

/** Reads the tables, by the functions of the projection only. */
@Injectable()
export class ContractsService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly reached: Reached,
  ) {}

  async list(query: ContractsQuery): Promise<ContractsPage> {
    const { type, party, text, payload, limit, after } = query;
    const at = after?.at ?? (await this.offset(query.atLeast));
    const values: unknown[] = [type ?? null, at, limit + 1];
    const has = (value: unknown): string => `$${values.push(value)}`;
    const conditions = [
      'true',
      ...(party === undefined ? [] : [`signatories || observers @> ARRAY[${has(party)}]`]),
      ...(text === undefined ? [] : [`strpos(lower(payload::text), lower(${has(text)})) > 0`]),
      ...(Object.keys(payload).length === 0 ? [] : [`payload @> ${has(JSON.stringify(payload))}`]),
      ...(after === undefined
        ? []
        : [`(created_at_offset, contract_id) < (${has(after.createdAt)}, ${has(after.contractId)})`]),
    ];
    const rows = await this.rows<ContractRow>(
      `SELECT ${contractColumns} FROM contracts.active($1, $2) WHERE ${conditions.join(' AND ')}
       ORDER BY created_at_offset DESC, contract_id DESC LIMIT $3`,
      values,
    );
    const contracts = rows.slice(0, limit).map(contractOf);
    const last = rows.length > limit ? contracts.at(-1) : undefined;
    const next = last === undefined ? null : `${at}.${last.createdAtOffset}.${last.contractId}`;
    return { offset: at, contracts, next };
  }

  async summary(): Promise<Summary> {
    const offset = await this.offset();
    const rows = await this.rows<{ type_name: string | null; template_fqn: string; count: string }>(
      `SELECT type_name, template_fqn, count(*) FROM contracts.active(NULL, $1) GROUP BY 1, 2 ORDER BY 2`,
      [offset],
    );
    const templates = rows.map((row) => ({
      type: row.type_name,
      template: row.template_fqn,
      count: Number(row.count),
    }));
    return { offset, templates };
  }

  /** A contract, active or archived, once the tables have the offset; throws if there is none. */
  async byId(contractId: string, atLeast?: Offset): Promise<ContractWithHistory> {
    await this.offset(atLeast);
    const contract = await this.read(contractId);
    if (contract === undefined) throw new NotFoundException('no such contract');
    return contract;
  }

  /** A contract, once the tables have the offset; `undefined` if they do not have it in time. */
  async find(contractId: string, offset: Offset): Promise<ContractWithHistory | undefined> {
    return (await this.reached.has(offset)) ? this.read(contractId) : undefined;
  }

  private async read(contractId: string): Promise<ContractWithHistory | undefined> {
    const [row] = await this.rows<ContractRow>(`SELECT ${contractColumns} FROM contracts.lookup_contract($1)`, [
      contractId,
    ]);
    if (row === undefined) return undefined;
    const exercises = await this.rows<ExerciseRow>(
      'SELECT * FROM contracts.lookup_exercises($1) ORDER BY exercise_event_id',
      [contractId],
    );
    return { ...contractOf(row), history: historyOf(row, exercises) };
  }

  /** The offset that the tables have. Before the contracts are loaded there is none: an empty answer would be no truth. */
  private async offset(atLeast?: Offset): Promise<Offset> {
    if (atLeast !== undefined && !(await answering(this.reached.has(atLeast))))
      throw new ServiceUnavailableException(`the tables do not have offset ${atLeast} yet`);
    const [row] = await this.rows<{ latest: string | null }>('SELECT contracts.latest_offset() AS latest', []);
    if (row?.latest == null) throw new ServiceUnavailableException('the contracts are not loaded yet');
    return Number(row.latest);
  }

  private async rows<Row extends object>(sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const { rows } = await answering(this.pool.query<Row>(sql, [...values]));
    return rows;
  }
}
