import { Injectable, type LoggerService } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { trace } from '@opentelemetry/api';
import { pino, type Logger } from 'pino';
import type { Environment } from '../config/environment.js';
import { factsOf } from './facts-of.js';

/** The logs of Nest and of the service by pino, one JSON object per line. */
@Injectable()
export class PinoLogger implements LoggerService {
  readonly pino: Logger;

  constructor(config: ConfigService<Environment, true>) {
    this.pino = pino({
      level: config.get('LOG_LEVEL', { infer: true }),
      redact: ['req.headers.authorization', 'req.headers.cookie'],
      mixin: spanIds,
    });
  }

  log(message: unknown, context?: string): void {
    this.pino.info({ context }, String(message));
  }

  error(message: unknown, ...rest: readonly unknown[]): void {
    this.pino.error({ context: rest.at(-1), ...factsOf(message) }, textOf(message));
  }

  fatal(message: unknown, context?: string): void {
    this.pino.fatal({ context, ...factsOf(message) }, textOf(message));
  }

  warn(message: unknown, context?: string): void {
    this.pino.warn({ context }, String(message));
  }

  debug(message: unknown, context?: string): void {
    this.pino.debug({ context }, String(message));
  }
}

const textOf = (message: unknown): string => (message instanceof Error ? message.message : String(message));

/** The trace and span ids, which connect log lines with traces. */
function spanIds(): Record<string, string> {
  const span = trace.getActiveSpan()?.spanContext();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}
