import { Inject, Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { acsDelta, create, type CreatedEvent, type Ledger, type TransactionEvent } from 'canton-rx';
import { commandOutbox, postgresStore, type Submissions } from 'canton-rx/postgres';
import { processFeed, updatesFeed, type Handler, type Processor } from 'canton-rx/process';
import type { Pool, PoolClient } from 'pg';
import type { Environment } from '../config/environment.js';
import { types } from '../contracts/types.js';
import { POOL } from '../database/pool.js';
import { LEDGER } from '../ledger/ledger.js';

/**
 * Creates a receipt for each payment, which is an asset with the tag `payment`, even if it is archived already. The cursor and
 * the command are committed together, so that each payment has one receipt. Only for a party that the participant hosts.
 * main.ts runs both.
 */
@Injectable()
export class Receipts {
  /** Enqueues the commands. Empty without a hosted party. */
  readonly processors: readonly Processor[] = [];
  /** Sends them. */
  readonly outboxes: readonly Submissions[] = [];

  constructor(@Inject(LEDGER) ledger: Ledger, @Inject(POOL) pool: Pool, config: ConfigService<Environment, true>) {
    const party = config.get('PARTY', { infer: true });
    const isHosted = config.get('PARTY_KEY_FILE', { infer: true }) === undefined;
    if (party === undefined || !isHosted) return;
    const userId = config.get('LEDGER_USER', { infer: true });
    const outbox = commandOutbox({ pool });
    const handler: Handler<PoolClient> = async (update, tx) => {
      if (update._tag !== 'Transaction') return;
      for (const payment of update.events.filter((event) => isPayment(event, party))) {
        const receipt = create(types.asset, { owner: party, amount: '0.0', tag: 'receipt', serial: '0' });
        const commandId = `receipt-${payment.contractId}`;
        await outbox.enqueue(tx, { commandId, userId, actAs: [party], commands: [receipt] });
      }
    };
    const updateFormat = acsDelta({ parties: [party], templates: [types.asset.templateId] });
    const store = postgresStore({ pool, timeoutMs: 10_000 });
    const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat });
    this.processors = [processFeed(feed, handler, { name: 'receipts', store })];
    this.outboxes = [outbox.submitAll(ledger)];
  }
}

function isPayment(event: TransactionEvent, party: string): event is CreatedEvent {
  if (event._tag !== 'CreatedEvent') return false;
  const asset = types.asset.decoder.run(event.createArgument);
  return asset.ok && asset.result.owner === party && asset.result.tag === 'payment';
}
