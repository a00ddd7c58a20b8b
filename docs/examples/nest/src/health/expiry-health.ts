import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { Expiry } from '../automation/expiry.js';
import type { Environment } from '../config/environment.js';

/** The health of the rule. */
@Injectable()
export class ExpiryHealth {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly expiry: Expiry,
    private readonly config: ConfigService<Environment, true>,
  ) {}

  /**
   * Down if the rule has lost its database, or if a contract has been due for some time. Up while it stands by. Failures of single
   * contracts are reported, and tried again.
   */
  rule(): HealthIndicatorResult {
    const indicator = this.indicators.check('expiry');
    const { status } = this.expiry;
    if (status === undefined) return indicator.up({ state: 'off' });
    const { role, state, due, running, waiting, parked, failed, oldestMs, committed } = status;
    const report = { role, state, due, running, waiting, parked, failed, oldestMs, committed };
    const isInTime = oldestMs <= this.config.get('READY_BEHIND_MS', { infer: true });
    return isInTime && state !== 'disconnected' ? indicator.up(report) : indicator.down(report);
  }
}
