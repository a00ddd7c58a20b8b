import { Controller, Get } from '@nestjs/common';
import { Projection, type Active } from './projection.js';

@Controller('contracts')
export class ContractsController {
  constructor(private readonly projection: Projection) {}

  /** The number of active contracts by template. */
  @Get()
  active(): Promise<readonly Active[]> {
    return this.projection.active();
  }
}
