import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { OpenTelemetry } from './open-telemetry.js';

@Controller('metrics')
export class MetricsController {
  constructor(private readonly telemetry: OpenTelemetry) {}

  /** What Prometheus asks for: `canton_rx_…` is the library's. */
  @Get()
  metrics(@Req() request: Request, @Res() response: Response): void {
    this.telemetry.metrics.getMetricsRequestHandler(request, response);
  }
}
