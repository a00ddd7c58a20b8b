import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { Telemetry } from 'canton-rx/otel';
import type { Environment } from '../config/environment.js';

/** Traces and metrics: the former are sent to a collector, where one is named; the latter are asked for. */
@Injectable()
export class OpenTelemetry implements OnApplicationShutdown {
  readonly metrics = new PrometheusExporter({ preventServerStart: true });
  readonly providers: Telemetry;
  private readonly tracers: NodeTracerProvider;

  constructor(config: ConfigService<Environment, true>) {
    const resource = resourceFromAttributes({ 'service.name': config.get('OTEL_SERVICE_NAME', { infer: true }) });
    const isSent = config.get('OTEL_EXPORTER_OTLP_ENDPOINT', { infer: true }) !== undefined;
    this.tracers = new NodeTracerProvider({
      resource,
      spanProcessors: isSent ? [new BatchSpanProcessor(new OTLPTraceExporter())] : [],
    });
    // what a handler does is in the span of the handler, also behind an await
    this.tracers.register();
    this.providers = {
      tracerProvider: this.tracers,
      meterProvider: new MeterProvider({ resource, readers: [this.metrics] }),
    };
  }

  /** The last spans are sent, if the collector takes them at once. */
  async onApplicationShutdown(): Promise<void> {
    const sent = this.tracers.shutdown().catch(() => undefined);
    await Promise.race([sent, new Promise((resolve) => setTimeout(resolve, 1_000))]);
  }
}
