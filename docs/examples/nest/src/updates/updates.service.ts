import { Injectable, type MessageEvent, type OnModuleDestroy } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { isLedgerError, type Update } from 'canton-rx';
import type { Response } from 'express';
import { catchError, concatMap, defer, interval, map, merge, of, repeat, Subject, takeUntil, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Environment } from '../config/environment.js';
import { drained } from './drained.js';
import { selected } from './selected.js';
import { SharedFeed } from './shared-feed.js';
import type { UpdatesQuery } from './updates-query.js';

/** The messages of the stream. */
@Injectable()
export class UpdatesService implements OnModuleDestroy {
  private readonly stopping$ = new Subject<void>();
  private readonly heartbeatMs: number;

  constructor(
    private readonly feed: SharedFeed,
    config: ConfigService<Environment, true>,
  ) {
    this.heartbeatMs = config.get('HEARTBEAT_MS', { infer: true });
  }

  /** Ends the streams, since the server waits for open responses. The clients then reconnect to another replica. */
  onModuleDestroy(): void {
    this.stopping$.next();
    this.stopping$.complete();
  }

  /**
   * Emits a message for each update. Its id is the offset, which a browser sends as `Last-Event-ID` when it reconnects.
   * Every message needs an id: Nest numbers those without, and a client would reconnect with that number.
   */
  messages(query: UpdatesQuery, response: Response): Observable<MessageEvent> {
    const select = selected(query);
    return defer(() => (query.after === undefined ? this.feed.end() : of(query.after))).pipe(
      concatMap((begin) => {
        let at = begin;
        const update$: Observable<Update> = defer(() => this.feed.pageAfter(at)).pipe(
          tap(({ end }) => {
            at = end;
          }),
          concatMap(({ updates }) => updates),
          repeat({ delay: () => drained(response) }),
        );
        // keeps the connection open through proxies, and moves the last event id of a client with few messages
        const heartbeat$ = interval(this.heartbeatMs).pipe(map(() => ({ id: String(at), comment: 'nothing new' })));
        const start$ = of({ id: String(begin), comment: 'connected', retry: 1_000 });
        return merge(start$, update$.pipe(select, map(messageOf)), heartbeat$).pipe(
          catchError((error: unknown) => of(failure(error, String(at)))),
        );
      }),
      // without an id, since no offset is known. A browser reconnects after it, but not after a response without a stream
      catchError((error: unknown) => of(failure(error, ''))),
      takeUntil(this.stopping$),
    );
  }
}

const messageOf = (update: Update): MessageEvent => ({ id: String(update.offset), type: update._tag, data: update });

/** The last message. The client reconnects by itself, but if the ledger is pruned it has to start at another offset. */
function failure(error: unknown, id: string): MessageEvent {
  const reason = isLedgerError(error) ? error._tag : 'Error';
  const data = isLedgerError(error, 'PrunedError') ? { reason, earliestOffset: error.earliestOffset } : { reason };
  return { id, type: 'failure', data, retry: 1_000 };
}
