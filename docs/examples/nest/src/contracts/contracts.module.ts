import { Module } from '@nestjs/common';
import { ContractsController } from './contracts.controller.js';
import { ContractsService } from './contracts.service.js';
import { Projection } from './projection.js';
import { Reached } from './reached.js';

@Module({
  controllers: [ContractsController],
  providers: [Projection, Reached, ContractsService],
  exports: [Projection, ContractsService],
})
export class ContractsModule {}
