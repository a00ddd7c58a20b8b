import { Inject, Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import type { Ledger } from 'canton-rx';
import { contractsProjection, postgresStore } from 'canton-rx/postgres';
import { contractsFeed, processFeed, type Processor } from 'canton-rx/process';
import type { Pool } from 'pg';
import type { Environment } from '../config/environment.js';
import { POOL } from '../database/pool.js';
import { LEDGER } from '../ledger/ledger.js';
import { types } from './types.js';

/** Keeps the tables of the contracts up to date. main.ts runs its processor. */
@Injectable()
export class Projection {
  readonly processor: Processor;

  constructor(@Inject(LEDGER) ledger: Ledger, @Inject(POOL) pool: Pool, config: ConfigService<Environment, true>) {
    const parties = config.get('PARTIES', { infer: true }) ?? 'any';
    // with exercises, a contract has its history
    const query = { types, parties, includeExercises: true } as const;
    this.processor = processFeed(contractsFeed(ledger, query), contractsProjection({ pool, query }), {
      name: 'contracts',
      store: postgresStore({ pool, timeoutMs: 10_000 }),
      batch: { size: 100, withinMs: 20 },
    });
  }
}
