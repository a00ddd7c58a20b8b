import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { OpenTelemetry } from './open-telemetry.js';

@Controller('metrics')
export class MetricsController {
  constructor(private readonly telemetry: OpenTelemetry) {}

  /** The metrics for Prometheus. Those of the library begin with `canton_rx_`. */
  @Get()
  metrics(@Req() request: Request, @Res() response: Response): void {
    this.telemetry.metrics.getMetricsRequestHandler(request, response);
  }
}
