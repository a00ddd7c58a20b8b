import { Global, Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { pinoHttp } from 'pino-http';
import { LedgerLog } from './ledger-log.js';
import { OpenTelemetry } from './open-telemetry.js';
import { PinoLogger } from './pino-logger.js';

@Global()
@Module({
  providers: [PinoLogger, LedgerLog, OpenTelemetry],
  exports: [PinoLogger, OpenTelemetry],
})
export class TelemetryModule implements NestModule {
  constructor(private readonly logger: PinoLogger) {}

  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(pinoHttp({ logger: this.logger.pino, serializers: { req: loggedRequest } })).forRoutes('*path');
  }
}

/** The part of a request that is logged: its query may ask for what is in a payload, and its headers have tokens. */
const loggedRequest = ({ id, method, url = '' }: { id: unknown; method: string; url: string }) => ({
  id,
  method,
  path: url.replace(/\?.*/s, ''),
});
