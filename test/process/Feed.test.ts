import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { concatMap, EMPTY, expand, finalize, from, lastValueFrom, NEVER, of, skip, take, toArray } from 'rxjs';
import type { UnknownUpdate } from '../../src/codecs/Update.js';
import { StoreError } from '../../src/errors/process.js';
import { retryPolicy } from '../../src/http/retry.js';
import type { CheckpointStore, FeedPosition } from '../../src/process/CheckpointStore.js';
import type { Feed } from '../../src/process/Feed.js';
import { memoryStore } from '../../src/process/memoryStore.js';
import { processFeed } from '../../src/process/processFeed.js';
import { until } from '../helpers/time.js';

/** A position in a book: offsets repeat in each chapter. */
interface Mark extends FeedPosition {
  readonly chapter: number;
}

const Mark = t.type({ chapter: t.number, offset: t.number });
const chapterLength = 4;
const pageSize = 3;
const markAt = (line: number): Mark => ({
  chapter: Math.ceil(line / chapterLength),
  offset: 1 + ((line - 1) % chapterLength),
});
const lineAt = ({ chapter, offset }: Mark): number => (chapter - 1) * chapterLength + offset;
const word = (line: number): UnknownUpdate => ({
  _tag: 'UnknownUpdate',
  variant: 'Line',
  offset: markAt(line).offset,
  value: line,
});

/** A source that is no ledger: a book, read to its last line. */
const book = (lines: number, edition = 'first'): Feed<UnknownUpdate, Mark> => ({
  retry: retryPolicy(),
  end$: of(markAt(lines).offset),
  diagnostics$: NEVER,
  open: () => ({
    report: () => undefined,
    path: 'book',
    maxPageSize: pageSize,
    start$: of({ chapter: 1, offset: 0 }),
    identity$: of({ selection: edition }),
    position: Mark,
    compare: (a, b) => lineAt(a) - lineAt(b),
    hasUpdate: () => of(true),
    batches: (after, ready$) =>
      of({ items: [], position: after, isCaughtUp: false, isLast: lineAt(after) >= lines }).pipe(
        expand(({ position, isLast }) => {
          if (isLast) return EMPTY;
          const first = lineAt(position) + 1;
          const last = Math.min(lines, first + pageSize - 1);
          const items = Array.from({ length: last - first + 1 }, (_, index) => ({
            position: markAt(first + index),
            content: word(first + index),
          }));
          return ready$.pipe(
            take(1),
            concatMap(() => of({ items, position: markAt(last), isCaughtUp: last === lines, isLast: last === lines })),
          );
        }),
        skip(1),
      ),
    timesOf: () => [],
  }),
});

describe('a feed of another source', () => {
  it('is processed in order, and resumes by positions that are not offsets of a ledger', async () => {
    const store = memoryStore();
    const read: unknown[] = [];
    const reader = (lines: number) =>
      lastValueFrom(processFeed(book(lines), ({ value }) => void read.push(value), { name: 'reader', store }));
    await reader(5);
    await reader(5).catch(() => undefined);
    const committed = await reader(11);
    expect(read).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(committed).toMatchObject({ offset: 3, isCaughtUp: true });
    expect(await lastValueFrom(from(store.load('reader')))).toMatchObject({ chapter: 3, offset: 3 });
  });

  it('moves to a smaller offset of a later chapter without taking it for a reset', async () => {
    const store = memoryStore();
    const commits = await lastValueFrom(
      processFeed(book(6), () => undefined, { name: 'reader', store, commitEvery: { updates: 1 } }).pipe(toArray()),
    );
    expect(commits.map(({ offset }) => offset)).toEqual([0, 1, 2, 3, 4, 1, 2]);
  });

  it('refuses the cursor of another one', async () => {
    const store = memoryStore();
    const run = (edition: string) =>
      lastValueFrom(processFeed(book(3, edition), () => undefined, { name: 'reader', store }));
    await run('first');
    await expect(run('second')).rejects.toMatchObject({ _tag: 'CursorError', reason: 'selection' });
  });

  it('refuses a record without its position', async () => {
    const store = memoryStore();
    await lastValueFrom(from(store.save('reader', { version: 1, offset: 2, recordTimes: {}, selection: 'first' })), {
      defaultValue: undefined,
    });
    await expect(lastValueFrom(processFeed(book(3), () => undefined, { name: 'reader', store }))).rejects.toMatchObject(
      { _tag: 'CursorError', reason: 'unreadable' },
    );
  });

  it('resumes from a record with null in place of what is absent', async () => {
    const record = { version: 1, offset: 2, chapter: 1, recordTimes: {}, selection: 'first', lastUpdate: null };
    const read: unknown[] = [];
    const saved: unknown[] = [];
    const store: CheckpointStore = {
      load: () => [{ ...record, participantId: null }],
      save: (_, cursor) => [saved.push(cursor)],
    };
    await lastValueFrom(processFeed(book(3), ({ value }) => void read.push(value), { name: 'reader', store }));
    expect(read).toEqual([3]);
    expect(saved).toEqual([{ version: 1, offset: 3, chapter: 1, recordTimes: {}, selection: 'first' }]);
  });

  it('saves in the store of its source if the options have none, and releases it at the end', async () => {
    const log: string[] = [];
    const store = memoryStore();
    const shelf: CheckpointStore = {
      ...store,
      hold: (name) => {
        log.push(`hold ${name}`);
        return store.hold(name).pipe(finalize(() => log.push('release')));
      },
      save: (name, cursor) => {
        log.push(`save ${cursor.offset}`);
        return store.save(name, cursor, undefined);
      },
    };
    const feed = { ...book(4), defaultStore: { name: 'shelf', store: shelf } };
    await lastValueFrom(processFeed(feed, ({ value }) => void log.push(`line ${String(value)}`)));
    const lines = ['save 0', 'line 1', 'line 2', 'line 3', 'save 3', 'line 4', 'save 4'];
    await until(() => log.includes('release'));
    expect(log).toEqual(['hold shelf', ...lines, 'release']);
    await lastValueFrom(
      processFeed(feed, ({ value }) => void log.push(`line ${String(value)}`)),
      { defaultValue: undefined },
    );
    await until(() => log.length > lines.length + 3);
    expect(log.slice(lines.length + 2)).toEqual(['hold shelf', 'release']);
    // a store of its own
    const own = memoryStore();
    const read: unknown[] = [];
    await lastValueFrom(processFeed(feed, ({ value }) => void read.push(value), { name: 'own', store: own }));
    expect(read).toEqual([1, 2, 3, 4]);
  });

  it('begins again when its store says at a save that the name was lost', async () => {
    const store = memoryStore();
    let saves = 0;
    const losing: CheckpointStore = {
      ...store,
      save: (name, cursor) => {
        saves += 1;
        if (saves === 2) throw new StoreError('hold', name, 'another processor holds the name now');
        return store.save(name, cursor, undefined);
      },
    };
    const read: unknown[] = [];
    const options = { name: 'reader', store: losing, commitEvery: { updates: 2 }, storeRetry: { baseDelayMs: 1 } };
    await lastValueFrom(processFeed(book(4), ({ value }) => void read.push(value), options));
    expect(read).toEqual([1, 2, 1, 2, 3, 4]);
  });
});
