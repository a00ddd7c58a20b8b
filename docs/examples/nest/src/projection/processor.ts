import { Inject, Injectable } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import type { Ledger } from 'canton-rx';
import { toStatus, type ProcessStatus } from 'canton-rx/process';
import { lastValueFrom, tap } from 'rxjs';
import type { Environment } from '../config/environment.js';
import { LEDGER } from '../ledger/ledger.js';
import { Projection } from './projection.js';

/** Runs the projection as long as the application runs. */
@Injectable()
export class Processor implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  /** Fulfilled when the processor has stopped; rejected when it has failed permanently. */
  over: Promise<unknown> = Promise.resolve();
  /** The status of the processor; absent before it has started. */
  status: ProcessStatus | undefined;
  /** When it was started, in milliseconds since the epoch. */
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
    // main.ts awaits it later; until then a rejection must not end the process as unhandled
    this.over.catch(() => undefined);
  }

  /** Finishes and commits the current batch, and starts no other. The server still answers probes meanwhile. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    // main.ts reports a failure
    await this.over.catch(() => undefined);
  }

  async onApplicationShutdown(): Promise<void> {
    const closed = this.projection.close().catch(() => undefined);
    // a database that does not answer must not delay the exit
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 1_000))]);
  }
}
