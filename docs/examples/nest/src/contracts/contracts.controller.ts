import { Controller, Get, Param, Query } from '@nestjs/common';
import { atLeastOf, contractsQueryOf } from './contracts-query.js';
import { ContractsService, type ContractsPage, type ContractWithHistory, type Summary } from './contracts.service.js';

@Controller('contracts')
export class ContractsController {
  constructor(private readonly contracts: ContractsService) {}

  /**
   * The active contracts, the newest first, a page at a time. Query: `type`, `party`, `text`, `payload.…`, `limit`, `after`
   * (the `next` of another page), and `atLeast`, an offset.
   */
  @Get()
  list(@Query() query: Readonly<Record<string, unknown>>): Promise<ContractsPage> {
    return this.contracts.list(contractsQueryOf(query));
  }

  /** The number of active contracts by template. */
  @Get('summary')
  summary(): Promise<Summary> {
    return this.contracts.summary();
  }

  /** A contract, active or archived, with its history. Query: `atLeast`, an offset. */
  @Get(':id')
  one(@Param('id') id: string, @Query() query: unknown): Promise<ContractWithHistory> {
    return this.contracts.byId(id, atLeastOf(query));
  }
}
