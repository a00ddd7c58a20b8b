import { Controller, Headers, Query, Res, Sse, type MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import type { Observable } from 'rxjs';
import { updatesQueryOf } from './updates-query.js';
import { UpdatesService } from './updates.service.js';

@Controller('updates')
export class UpdatesController {
  constructor(private readonly updates: UpdatesService) {}

  /** Query: `variant`, `synchronizer` and `template`, any number of each, and `after`, an offset. */
  @Sse()
  stream(
    @Query() query: unknown,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Observable<MessageEvent> {
    return this.updates.messages(updatesQueryOf(query, lastEventId), response);
  }
}
