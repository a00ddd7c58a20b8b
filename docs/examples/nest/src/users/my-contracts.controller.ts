import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { Controller, Get, Headers, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { serverSentEventsHeaders } from 'canton-rx/sse';
import type { Response } from 'express';
import { LoginGuard, type UserRequest } from './login.guard.js';
import { Logouts } from './logouts.js';
import { UserContracts } from './user-contracts.js';

/** Nothing of a request but its login says whose contracts are sent. */
@Controller('my')
@UseGuards(LoginGuard)
export class MyContractsController {
  constructor(
    private readonly contracts: UserContracts,
    private readonly logouts: Logouts,
  ) {}

  /** The contracts of the user as server-sent events, for `remoteContracts`. */
  @Get('contracts')
  async stream(
    @Req() { login }: UserRequest,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() response: Response,
  ): Promise<void> {
    response.writeHead(200, serverSentEventsHeaders);
    const events = this.contracts.events(login, lastEventId);
    // of two types of the same stream, Node.js takes its own; an error is that of a page that has disconnected
    await pipeline(Readable.fromWeb(events as ReadableStream), response).catch(() => undefined);
  }

  /** Ends the streams of this login. Its token is refused from now on. */
  @Post('logout')
  @HttpCode(204)
  logout(@Req() { login }: UserRequest): Promise<void> {
    return this.logouts.add(login);
  }
}
