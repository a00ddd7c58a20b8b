import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import type { Ledger } from 'canton-rx';
import { contractsProjection, postgresStore } from 'canton-rx/postgres';
import { contractsFeed, processFeed, type ProcessStatus } from 'canton-rx/process';
import type { Pool } from 'pg';
import { lastValueFrom, takeUntil } from 'rxjs';
import type { Environment } from '../config/environment.js';
import { POOL } from '../database/pool.js';
import { LEDGER } from '../ledger/ledger.js';
import { types } from './types.js';

/** Keeps the tables of the contracts up to date, as long as the application runs. */
@Injectable()
export class Projection implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** Fulfilled when it has stopped; rejected when it has failed permanently. */
  over: Promise<unknown> = Promise.resolve();
  /** Absent before it has started. */
  status: ProcessStatus | undefined;
  private readonly stopping = new AbortController();

  constructor(
    @Inject(LEDGER) private readonly ledger: Ledger,
    @Inject(POOL) private readonly pool: Pool,
    private readonly config: ConfigService<Environment, true>,
  ) {}

  get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  onApplicationBootstrap(): void {
    const { pool, ledger } = this;
    // with exercises, a contract has its history
    const query = {
      types,
      parties: this.config.get('PARTIES', { infer: true }) ?? 'any',
      includeExercises: true,
    } as const;
    const feed = contractsFeed(ledger, query);
    const processor = processFeed(feed, contractsProjection({ pool, query }), {
      name: 'contracts',
      store: postgresStore({ pool, timeoutMs: 10_000 }),
      batch: { size: 100, withinMs: 20 },
      signal: this.stopping.signal,
      stopWithinMs: this.config.get('STOP_WITHIN_MS', { infer: true }),
    });
    this.over = lastValueFrom(processor, { defaultValue: undefined });
    // main.ts awaits it later; until then a rejection must not end the process as unhandled
    const ended = this.over.catch(() => undefined);
    processor.status$.pipe(takeUntil(ended)).subscribe((status) => {
      this.status = status;
    });
  }

  /** Finishes and commits the current batch, and starts no other. The server still answers probes meanwhile. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    // main.ts reports a failure
    await this.over.catch(() => undefined);
  }
}
