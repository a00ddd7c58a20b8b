import { Inject, Injectable } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { toStatus, type Ledger, type ProcessStatus } from 'canton-rx';
import { lastValueFrom, tap } from 'rxjs';
import type { Environment } from '../config/environment.js';
import { LEDGER } from '../ledger/ledger.js';
import { Projection } from './projection.js';

/** Has the projection follow the ledger for as long as the application runs. */
@Injectable()
export class Processor implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  /** Fulfilled when it has stopped; rejected when it has failed for good. */
  over: Promise<unknown> = Promise.resolve();
  /** How it is doing; nothing before it has begun. */
  status: ProcessStatus | undefined;
  /** When it was begun, in milliseconds since the epoch. */
  begunAt = Infinity;
  private readonly stopping = new AbortController();

  constructor(
    @Inject(LEDGER) private readonly ledger: Ledger,
    private readonly projection: Projection,
    private readonly config: ConfigService<Environment, true>,
  ) {}

  get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  onApplicationBootstrap(): void {
    this.begunAt = Date.now();
    const stopWithinMs = this.config.get('STOP_WITHIN_MS', { infer: true });
    const everyMs = this.config.get('STATUS_EVERY_MS', { infer: true });
    const status$ = this.projection.follow({ signal: this.stopping.signal, stopWithinMs }).pipe(
      toStatus(this.ledger.ledgerEnd(), { everyMs }),
      tap((status) => {
        this.status = status;
      }),
    );
    this.over = lastValueFrom(status$, { defaultValue: undefined });
    // who looks at it may do so only later
    this.over.catch(() => undefined);
  }

  /** The batch in hand is finished and committed, no other is begun. The server still answers, so that probes see it. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    // that it has failed is told elsewhere
    await this.over.catch(() => undefined);
  }

  async onApplicationShutdown(): Promise<void> {
    const closed = this.projection.close().catch(() => undefined);
    // a database that does not answer must not keep the process
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 1_000))]);
  }
}
