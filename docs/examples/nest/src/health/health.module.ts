import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { ProjectionModule } from '../projection/projection.module.js';
import { HealthController } from './health.controller.js';
import { ProjectionHealth } from './projection-health.js';

@Module({
  // that a probe was answered with 503 is no news: what is wrong is logged where it happens
  imports: [TerminusModule.forRoot({ logger: false }), ProjectionModule],
  controllers: [HealthController],
  providers: [ProjectionHealth],
})
export class HealthModule {}
