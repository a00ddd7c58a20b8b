import { Injectable, type MessageEvent, type OnModuleDestroy } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { isLedgerError, isPrunedError, type Update } from 'canton-rx';
import type { Response } from 'express';
import { catchError, concatMap, defer, interval, map, merge, of, repeat, Subject, takeUntil, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Environment } from '../config/environment.js';
import { drained } from './drained.js';
import { selected } from './selected.js';
import { SharedFeed } from './shared-feed.js';
import type { UpdatesQuery } from './updates-query.js';

/** What clients of the stream get. */
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

  /** The server waits for its open answers before it ends: the clients' are ended first, and they come back to another. */
  onModuleDestroy(): void {
    this.stopping$.next();
    this.stopping$.complete();
  }

  /**
   * One message for each update. Its id is the offset: what a browser sends back as `Last-Event-ID`, and from where it
   * goes on. Every message needs one, for Nest numbers those without, and a client would come back with that number.
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
        // tells proxies that the connection lives, and a client that is sent little how far it has come
        const heartbeat$ = interval(this.heartbeatMs).pipe(map(() => ({ id: String(at), comment: 'nothing new' })));
        const start$ = of({ id: String(begin), comment: 'connected', retry: 1_000 });
        return merge(start$, update$.pipe(select, map(messageOf)), heartbeat$).pipe(
          catchError((error: unknown) => of(failure(error, String(at)))),
        );
      }),
      // where to begin is not known: a browser comes back without an id, but never where the answer is no stream
      catchError((error: unknown) => of(failure(error, ''))),
      takeUntil(this.stopping$),
    );
  }
}

const messageOf = (update: Update): MessageEvent => ({ id: String(update.offset), type: update._tag, data: update });

/** The last message. The client comes back by itself; where the ledger is pruned, it has to begin somewhere else. */
function failure(error: unknown, id: string): MessageEvent {
  const reason = isLedgerError(error) ? error._tag : 'Error';
  const data = isPrunedError(error) ? { reason, earliestOffset: error.earliestOffset } : { reason };
  return { id, type: 'failure', data, retry: 1_000 };
}
