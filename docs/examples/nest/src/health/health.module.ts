import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { ContractsModule } from '../contracts/contracts.module.js';
import { HealthController } from './health.controller.js';
import { ProjectionHealth } from './projection-health.js';

@Module({
  // no log line for a probe with 503: the cause is logged where it occurs
  imports: [TerminusModule.forRoot({ logger: false }), ContractsModule],
  controllers: [HealthController],
  providers: [ProjectionHealth],
})
export class HealthModule {}
