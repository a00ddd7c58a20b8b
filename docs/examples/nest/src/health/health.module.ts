import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { AutomationModule } from '../automation/automation.module.js';
import { ContractsModule } from '../contracts/contracts.module.js';
import { ExpiryHealth } from './expiry-health.js';
import { HealthController } from './health.controller.js';
import { ProjectionHealth } from './projection-health.js';

@Module({
  // no log line for a probe with 503: the cause is logged where it occurs
  imports: [TerminusModule.forRoot({ logger: false }), ContractsModule, AutomationModule],
  controllers: [HealthController],
  providers: [ProjectionHealth, ExpiryHealth],
})
export class HealthModule {}
