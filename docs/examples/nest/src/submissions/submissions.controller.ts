import { BadGatewayException, BadRequestException, ConflictException } from '@nestjs/common';
import { Body, Controller, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { Transaction } from 'canton-rx';
import type { Response } from 'express';
import { firstValueFrom } from 'rxjs';
import { z } from 'zod';
import { ContractsService, type ContractWithHistory } from '../contracts/contracts.service.js';
import { SubmissionsService } from './submissions.service.js';

const NewAsset = z.strictObject({
  amount: z.string().regex(/^\d{1,28}(\.\d{1,10})?$/, 'no amount'),
  tag: z.string().nullable().default(null),
});

/** What was committed, and the contract as the tables have it since; `null` if they do not have it yet. */
interface Submitted {
  readonly offset: number;
  readonly updateId: string;
  readonly contract: ContractWithHistory | null;
}

/** Each answers when the tables have what it did, so that whoever reads next reads it. */
@Controller('contracts')
export class SubmissionsController {
  constructor(
    private readonly submissions: SubmissionsService,
    private readonly contracts: ContractsService,
  ) {}

  /** Creates an asset of the service's party. */
  @Post('assets')
  async create(
    @Body() body: unknown,
    @Headers('idempotency-key') key: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Submitted> {
    const asset = NewAsset.safeParse(body);
    if (!asset.success) throw new BadRequestException(z.flattenError(asset.error));
    const transaction = await firstValueFrom(this.submissions.createAsset(asset.data, commandId(key)));
    const created = transaction.events.find((event) => event._tag === 'CreatedEvent');
    if (created === undefined) throw new BadGatewayException('the transaction has created nothing');
    return this.shown(transaction, created.contractId, response);
  }

  /** Archives a contract. */
  @Post(':id/archive')
  @HttpCode(200)
  async archive(
    @Param('id') id: string,
    @Headers('idempotency-key') key: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Submitted> {
    const contract = await this.contracts.byId(id);
    if (contract.archivedAtOffset !== null) throw new ConflictException('the contract is archived');
    const transaction = await firstValueFrom(this.submissions.archive(contract, commandId(key)));
    return this.shown(transaction, id, response);
  }

  private async shown({ offset, updateId }: Transaction, id: string, response: Response): Promise<Submitted> {
    const contract = await this.contracts.find(id, offset);
    // committed, but not in the tables yet: the client asks for it with this offset
    if (contract === undefined) response.status(202);
    response.location(`/contracts/${id}?atLeast=${offset}`);
    return { offset, updateId, contract: contract ?? null };
  }
}

/**
 * The id of the command is the client's: a request that it repeats is the same command, which the ledger commits once. No page
 * of another origin can send this header unasked, so that none can submit through the browser of somebody who may.
 */
function commandId(key: string | undefined): string {
  if (key === undefined || !/^[\w.:-]{1,100}$/.test(key))
    throw new BadRequestException('the header Idempotency-Key is missing: up to 100 letters, digits, and . : _ -');
  return key;
}
