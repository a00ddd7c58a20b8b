import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { acsDelta, create, type CreatedEvent, type Ledger, type TransactionEvent } from 'canton-rx';
import { commandOutbox, postgresStore } from 'canton-rx/postgres';
import { processFeed, updatesFeed, type Handler } from 'canton-rx/process';
import type { Pool, PoolClient } from 'pg';
import { concatMap, defer, fromEvent, lastValueFrom, merge, type Observable, retry, takeUntil } from 'rxjs';
import type { Environment } from '../config/environment.js';
import { types } from '../contracts/types.js';
import { POOL } from '../database/pool.js';
import { LEDGER } from '../ledger/ledger.js';

/**
 * Creates a receipt for each payment, which is an asset with the tag `payment`, even if it is archived already. The cursor and
 * the command are committed together, so that each payment has one receipt. Only for a party that the participant hosts.
 */
@Injectable()
export class Receipts implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** Fulfilled when it has stopped; rejected when it has failed permanently. */
  over: Promise<unknown> = Promise.resolve();
  private readonly stopping = new AbortController();

  constructor(
    @Inject(LEDGER) private readonly ledger: Ledger,
    @Inject(POOL) private readonly pool: Pool,
    private readonly config: ConfigService<Environment, true>,
  ) {}

  onApplicationBootstrap(): void {
    const party = this.config.get('PARTY', { infer: true });
    const isHosted = this.config.get('PARTY_KEY_FILE', { infer: true }) === undefined;
    if (party === undefined || !isHosted) return;
    this.over = lastValueFrom(this.run(party), { defaultValue: undefined });
    // main.ts awaits it later; until then a rejection must not end the process as unhandled
    this.over.catch(() => undefined);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    // main.ts reports a failure
    await this.over.catch(() => undefined);
  }

  private run(party: string): Observable<unknown> {
    const { ledger, pool } = this;
    const { signal } = this.stopping;
    const stopWithinMs = this.config.get('STOP_WITHIN_MS', { infer: true });
    const userId = this.config.get('LEDGER_USER', { infer: true });
    const outbox = commandOutbox({ pool, schema: 'submissions' });
    const handler: Handler<PoolClient> = async (update, tx) => {
      if (update._tag !== 'Transaction') return;
      for (const payment of update.events.filter((event) => isPayment(event, party))) {
        const receipt = create(types.asset, { owner: party, amount: '0.0', tag: 'receipt', serial: '0' });
        const commandId = `receipt-${payment.contractId}`;
        await outbox.enqueue(tx, { commandId, userId, actAs: [party], commands: [receipt] });
      }
    };
    const updateFormat = acsDelta({ parties: [party], templates: [types.asset.templateId] });
    const enqueued$ = processFeed(updatesFeed(ledger, { beginExclusive: 0, updateFormat }), handler, {
      name: 'receipts',
      store: postgresStore({ pool, timeoutMs: 10_000 }),
      signal,
      stopWithinMs,
    });
    // an outbox does not create its schema; the database may start later than the service
    const schema$ = defer(() => pool.query('CREATE SCHEMA IF NOT EXISTS submissions')).pipe(
      retry({ count: 300, delay: 1_000 }),
      takeUntil(fromEvent(signal, 'abort')),
    );
    return schema$.pipe(concatMap(() => merge(enqueued$, outbox.submitAll(ledger, { signal, stopWithinMs }))));
  }
}

function isPayment(event: TransactionEvent, party: string): event is CreatedEvent {
  if (event._tag !== 'CreatedEvent') return false;
  const asset = types.asset.decoder.run(event.createArgument);
  return asset.ok && asset.result.owner === party && asset.result.tag === 'payment';
}
