import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { isReady } from 'canton-rx/process';
import type { Environment } from '../config/environment.js';
import { Processor } from '../projection/processor.js';
import { Projection } from '../projection/projection.js';

/** A process that starts is waiting for a moment as well. One that waits longer than this is a standby. */
const standbyAfterMs = 5_000;

/** The health of the projection. */
@Injectable()
export class ProjectionHealth {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly processor: Processor,
    private readonly projection: Projection,
    private readonly config: ConfigService<Environment, true>,
  ) {}

  /**
   * Up after it has caught up. Down if the ledger has not answered for some time, or if the projection has lagged for
   * some time: because a database or a handler hangs, or because there are more updates than it can handle.
   */
  ledger(): HealthIndicatorResult {
    const indicator = this.indicators.check('ledger');
    const { status, isStopping, begunAt } = this.processor;
    if (isStopping || status === undefined) return indicator.down({ state: isStopping ? 'stopping' : 'starting' });
    const unseenMs = Date.now() - (status.seenAt ?? 0);
    const isUp =
      unseenMs <= this.config.get('READY_UNSEEN_MS', { infer: true }) &&
      isReady(status, {
        maxAgeMs: this.config.get('READY_BEHIND_MS', { infer: true }),
        isStandbyReady: this.projection.hasReplicas && Date.now() - begunAt > standbyAfterMs,
      });
    return isUp ? indicator.up({ ...status }) : indicator.down({ ...status });
  }

  /** Checks the store: by its status, a standby cannot be distinguished from a process that waits for the database. */
  async store(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('store');
    try {
      await this.projection.check();
      return indicator.up();
    } catch {
      return indicator.down();
    }
  }
}
