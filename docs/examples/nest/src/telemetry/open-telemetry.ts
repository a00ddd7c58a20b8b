import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { Telemetry } from 'canton-rx/otel';
import type { Environment } from '../config/environment.js';

/** Traces, which are sent to a collector, if one is configured. `runService` has the metrics. */
@Injectable()
export class OpenTelemetry implements OnApplicationShutdown {
  readonly providers: Telemetry;
  private readonly tracers: NodeTracerProvider;

  constructor(config: ConfigService<Environment, true>) {
    const resource = resourceFromAttributes({ 'service.name': config.get('OTEL_SERVICE_NAME', { infer: true }) });
    const isSent = config.get('OTEL_EXPORTER_OTLP_ENDPOINT', { infer: true }) !== undefined;
    this.tracers = new NodeTracerProvider({
      resource,
      spanProcessors: isSent ? [new BatchSpanProcessor(new OTLPTraceExporter())] : [],
    });
    // keeps the span of a handler active, also after an await
    this.tracers.register();
    this.providers = { tracerProvider: this.tracers };
  }

  /** Sends the last spans, if the collector accepts them at once. */
  async onApplicationShutdown(): Promise<void> {
    const sent = this.tracers.shutdown().catch(() => undefined);
    await Promise.race([sent, new Promise((resolve) => setTimeout(resolve, 1_000))]);
  }
}
