import { Controller, Get } from '@nestjs/common';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { ExpiryHealth } from './expiry-health.js';
import { ProjectionHealth } from './projection-health.js';

@Controller()
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly projection: ProjectionHealth,
    private readonly expiry: ExpiryHealth,
  ) {}

  /** Liveness. It does not depend on the ledger or the database, since a restart would not repair them. */
  @Get('health')
  @HealthCheck()
  live(): Promise<HealthCheckResult> {
    return this.health.check([]);
  }

  /** Readiness: the ledger answers, the projection and the rule have caught up with it, and the database answers. */
  @Get('ready')
  @HealthCheck()
  ready(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.projection.ledger(),
      () => this.projection.database(),
      () => this.expiry.rule(),
    ]);
  }
}
