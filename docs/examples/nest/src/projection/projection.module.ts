import { Module } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import type { Ledger } from 'canton-rx';
import type { Environment } from '../config/environment.js';
import { LEDGER } from '../ledger/ledger.js';
import { Selection } from '../ledger/selection.js';
import { PinoLogger } from '../telemetry/pino-logger.js';
import { ContractsController } from './contracts.controller.js';
import { FileProjection } from './file-projection.js';
import { PostgresProjection } from './postgres-projection.js';
import { Processor } from './processor.js';
import { Projection } from './projection.js';

@Module({
  controllers: [ContractsController],
  providers: [
    Processor,
    {
      provide: Projection,
      inject: [LEDGER, Selection, ConfigService, PinoLogger],
      useFactory: (
        ledger: Ledger,
        { updateFormat }: Selection,
        config: ConfigService<Environment, true>,
        logger: PinoLogger,
      ): Projection => {
        const url = config.get('DATABASE_URL', { infer: true });
        const folder = config.get('DATA_FOLDER', { infer: true });
        if (url === undefined) return new FileProjection(ledger, updateFormat, folder);
        return new PostgresProjection(ledger, updateFormat, url, ({ message }) => logger.warn(message, 'Projection'));
      },
    },
  ],
  exports: [Processor, Projection],
})
export class ProjectionModule {}
