import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import type { Ledger } from 'canton-rx';
import { contractsFor, type LiveContracts, liveContracts } from 'canton-rx/contracts';
import { toServerSentEvents } from 'canton-rx/sse';
import { merge, Subject, timer } from 'rxjs';
import type { Environment } from '../config/environment.js';
import { LEDGER } from '../ledger/ledger.js';
import type { Login } from './login.js';
import { Logouts } from './logouts.js';
import { Rights } from './rights.js';

/** How long the contracts of a user are kept up to date after the last page, which may connect again, in milliseconds. */
const keepMs = 30_000;

/** The longest timer of JavaScript, in milliseconds. */
const longestMs = 2 ** 31 - 1;

/** The contracts of each user, out of one view of the ledger. There is no feed while there are no pages. */
@Injectable()
export class UserContracts implements OnModuleDestroy {
  private readonly stopping$ = new Subject<void>();
  private readonly all: LiveContracts;
  /** One view for all pages of a user. Without pages it holds no contracts. */
  private readonly views = new Map<string, LiveContracts>();
  private readonly heartbeatMs: number;

  constructor(
    @Inject(LEDGER) ledger: Ledger,
    private readonly rights: Rights,
    private readonly logouts: Logouts,
    config: ConfigService<Environment, true>,
  ) {
    this.all = liveContracts(ledger, { parties: config.get('PARTIES', { infer: true }) ?? 'any' });
    this.heartbeatMs = config.get('HEARTBEAT_MS', { infer: true });
  }

  /** Ends the streams, since the server waits for open responses. The pages then connect to another replica. */
  onModuleDestroy(): void {
    this.stopping$.next();
    this.stopping$.complete();
  }

  /** The events for a page, until the login ends. */
  events(login: Login, lastEventId: string | undefined): ReadableStream<Uint8Array> {
    const expired$ = timer(Math.min(1_000 * login.expiresAt - Date.now(), longestMs));
    return toServerSentEvents(this.viewOf(login).changes$, {
      lastEventId,
      keepMs,
      heartbeatMs: this.heartbeatMs,
      until$: merge(expired$, this.logouts.of(login), this.stopping$),
    });
  }

  private viewOf({ subject }: Login): LiveContracts {
    const view = this.views.get(subject) ?? contractsFor(this.all, this.rights.partiesOf(subject));
    this.views.set(subject, view);
    return view;
  }
}
