import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { isReady } from 'canton-rx';
import type { Environment } from '../config/environment.js';
import { Processor } from '../projection/processor.js';
import { Projection } from '../projection/projection.js';

/** A process that starts waits too, for a moment: only who does so for longer waits for another to end. */
const standbyAfterMs = 5_000;

/** How the projection is doing. */
@Injectable()
export class ProjectionHealth {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly processor: Processor,
    private readonly projection: Projection,
    private readonly config: ConfigService<Environment, true>,
  ) {}

  /**
   * Up once it has caught up; down while the ledger was not seen for a while, or has ended beyond what is handled for a
   * while: a ledger that is away, a database or a handler that hangs, or more updates than it can take.
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

  /** A replica that waits for another to end is ready, and so it would be where it waits for the database: this tells. */
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
