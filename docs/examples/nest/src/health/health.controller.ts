import { Controller, Get } from '@nestjs/common';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { ProjectionHealth } from './projection-health.js';

@Controller()
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly projection: ProjectionHealth,
  ) {}

  /** Whether to leave the process alone. That the ledger or the database is away is no reason to restart it. */
  @Get('health')
  @HealthCheck()
  live(): Promise<HealthCheckResult> {
    return this.health.check([]);
  }

  /** Whether what it serves is right: it sees the ledger, has caught up with it, and reaches its store. */
  @Get('ready')
  @HealthCheck()
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.projection.ledger(), () => this.projection.store()]);
  }
}
