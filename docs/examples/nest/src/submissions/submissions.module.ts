import { Module } from '@nestjs/common';
import { ContractsModule } from '../contracts/contracts.module.js';
import { SentCommands } from './sent-commands.js';
import { SubmissionsController } from './submissions.controller.js';
import { SubmissionsService } from './submissions.service.js';

@Module({
  imports: [ContractsModule],
  controllers: [SubmissionsController],
  providers: [SubmissionsService, SentCommands],
})
export class SubmissionsModule {}
