import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LedgerReader, UpdateFormat } from 'canton-rx';
import { fileStore } from 'canton-rx/file';
import { processFeed, updatesFeed, type BatchHandler, type Committed } from 'canton-rx/process';
import { concatMap, defer, type Observable } from 'rxjs';
import { batch } from './batch.js';
import { entryOf, type Entry } from './entry.js';
import { Journal } from './journal.js';
import { Projection, type Active, type Stopping } from './projection.js';

/**
 * Keeps the projection in one file and the position in another. They cannot be written atomically, so after a crash up to
 * one batch is delivered again: files have at-least-once delivery. Each update still takes effect once, since the handler
 * skips offsets that are in the journal.
 */
export class FileProjection extends Projection {
  readonly hasReplicas = false;
  private readonly contracts = new Map<string, string>();
  private journal: Journal | undefined;
  private last = 0;

  constructor(
    private readonly ledger: LedgerReader,
    private readonly updateFormat: UpdateFormat,
    private readonly folder: string,
  ) {
    super();
  }

  follow({ signal, stopWithinMs }: Stopping): Observable<Committed> {
    const feed = updatesFeed(this.ledger, { beginExclusive: 0, updateFormat: this.updateFormat });
    return defer(() => this.open()).pipe(
      concatMap((journal) =>
        processFeed(feed, this.handlerOf(journal), {
          name: 'contracts',
          store: fileStore(this.folder),
          batch,
          signal,
          stopWithinMs,
        }),
      ),
    );
  }

  active(): Promise<readonly Active[]> {
    const counts = new Map<string, number>();
    for (const templateId of this.contracts.values()) counts.set(templateId, (counts.get(templateId) ?? 0) + 1);
    const all = [...counts].map(([templateId, count]) => ({ templateId, count }));
    return Promise.resolve(all.sort((a, b) => (a.templateId < b.templateId ? -1 : 1)));
  }

  check(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {
    await this.journal?.close();
  }

  private async open(): Promise<Journal> {
    await mkdir(this.folder, { recursive: true });
    this.journal = await Journal.open(join(this.folder, 'contracts.jsonl'), (entry) => this.apply(entry));
    return this.journal;
  }

  private handlerOf(journal: Journal): BatchHandler {
    return async (updates) => {
      // skips updates whose position was not saved before a crash
      const entries = updates.filter(({ offset }) => offset > this.last).map(entryOf);
      if (entries.length === 0) return;
      // the journal is written before the position is saved: in the other order, a crash between them would lose updates
      await journal.append(entries);
      for (const entry of entries) this.apply(entry);
    };
  }

  private apply({ offset, changes }: Entry): void {
    for (const { contractId, synchronizerId, created } of changes) {
      const key = `${contractId} ${synchronizerId}`;
      if (created === undefined) this.contracts.delete(key);
      else this.contracts.set(key, created.templateId);
    }
    this.last = offset;
  }
}
