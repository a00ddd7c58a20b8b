import { Inject, Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import type { Pool } from 'pg';
import type { Environment } from '../config/environment.js';
import { Projection } from '../contracts/projection.js';
import { POOL } from '../database/pool.js';
import { readyReport, unknownReport, type ReadyLimits } from './ready-report.js';

/** The health of the projection. */
@Injectable()
export class ProjectionHealth {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly projection: Projection,
    private readonly config: ConfigService<Environment, true>,
    @Inject(POOL) private readonly pool: Pool,
  ) {}

  /**
   * Up after it has caught up, and while it stands by. Down if the ledger has not answered for some time, if the projection
   * has lost its database, or if it has lagged for some time: because the database hangs, or because there are more updates
   * than it can handle.
   */
  ledger(): HealthIndicatorResult {
    const indicator = this.indicators.check('ledger');
    const { status, isStopping } = this.projection;
    if (isStopping || status === undefined)
      return indicator.down({ ...unknownReport(isStopping ? 'stopping' : 'starting') });
    const { isUp, report } = readyReport(status, this.limits());
    return isUp ? indicator.up({ ...report }) : indicator.down({ ...report });
  }

  /** Up while the tables can be read, and the contracts have been loaded: a standby does not know whether they are. */
  async database(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('database');
    try {
      const text = 'SELECT contracts.latest_offset() AS latest';
      const { rows } = await this.pool.query<{ latest: string | null }>({ text, query_timeout: 2_000 } as {
        text: string;
      });
      return rows[0]?.latest == null ? indicator.down('the contracts are not loaded yet') : indicator.up();
    } catch {
      return indicator.down();
    }
  }

  private limits(): ReadyLimits {
    return {
      unseenMs: this.config.get('READY_UNSEEN_MS', { infer: true }),
      behindMs: this.config.get('READY_BEHIND_MS', { infer: true }),
    };
  }
}
