import { Global, Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { pinoHttp } from 'pino-http';
import { LedgerLog } from './ledger-log.js';
import { PinoLogger } from './pino-logger.js';

@Global()
@Module({ providers: [PinoLogger, LedgerLog], exports: [PinoLogger] })
export class TelemetryModule implements NestModule {
  constructor(private readonly logger: PinoLogger) {}

  configure(consumer: MiddlewareConsumer): void {
    // probes come every few seconds
    const ignore = ({ url }: { url?: string }): boolean => url === '/health' || url === '/ready';
    consumer.apply(pinoHttp({ logger: this.logger.pino, autoLogging: { ignore } })).forRoutes('*path');
  }
}
