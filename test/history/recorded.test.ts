import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { defer, delay, of, takeUntil, timer } from 'rxjs';
import type { HttpPort } from '../../src/http/HttpPort.js';
import { acsDelta, createLedger, LedgerPosition, positions, type Update } from '../../src/index.js';
import { memoryStore } from '../../src/process/memoryStore.js';
import { processFeed } from '../../src/process/processFeed.js';
import { updatesFeed } from '../../src/process/updatesFeed.js';
import { effort } from '../helpers/effort.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { errorBody, errorReply, notFound, ok, transactionWith } from '../helpers/wire.js';

/** An update as a real participant listed it. */
interface Recorded {
  readonly offset: number;
  readonly updateId: string;
  readonly synchronizerId: string;
  readonly recordTime: string;
}

/** A participant, as it was recorded. */
interface Node {
  readonly participantId: string;
  readonly updates: readonly Recorded[];
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../fixtures/histories/${name}.json`, import.meta.url), 'utf8'));

const updateFormat = acsDelta({ parties: 'any' });

/** Serves what a participant has. */
const serve =
  ({ participantId, updates }: Node): HttpPort =>
  ({ url, body }) =>
    defer(() => {
      const { pathname, searchParams } = new URL(url);
      const end = updates.at(-1)?.offset ?? 0;
      const request = JSON.parse(body ?? '{}') as { beginExclusive?: number; endInclusive?: number; updateId?: string };
      const { beginExclusive = 0, endInclusive, updateId } = request;
      const toWire = ({ offset, ...fields }: Recorded): object => transactionWith(offset, fields);
      if (pathname.endsWith('/ledger-end')) return of(ok({ offset: end }));
      if (pathname.endsWith('/participant-id')) return of(ok({ participantId }));
      if (pathname.endsWith('/update-by-id')) {
        const found = updates.find((update) => update.updateId === updateId);
        return of(found === undefined ? errorReply(404, errorBody('UPDATE_NOT_FOUND', 11)) : ok(toWire(found)));
      }
      if (!pathname.startsWith('/v2/updates')) return of(notFound);
      if (Math.max(beginExclusive, endInclusive ?? 0) > end)
        return of(errorReply(400, errorBody('OFFSET_AFTER_LEDGER_END', 12)));
      const page = updates
        .filter(({ offset }) => offset > beginExclusive && offset <= (endInclusive ?? end))
        .slice(0, Number(searchParams.get('limit')));
      const idleMs = Number(searchParams.get('stream_idle_timeout_ms') ?? 1);
      return of(ok(page.map(toWire))).pipe(delay(page.length < Number(searchParams.get('limit')) ? idleMs : 1));
    });

const idOf = (update: Update): string => ('updateId' in update ? update.updateId : '');

/** All positions of a reader of a participant, as JSON keeps them, with the updates that it had read. */
const positionsOn = (node: Node): readonly { readonly read: readonly string[]; readonly position: LedgerPosition }[] =>
  marbles(({ flush }) => {
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: serve(node) });
    const seen = observe(
      // pages of any size, so that the positions within a page and at its end are all there
      ledger
        .updates({ beginExclusive: 0, updateFormat }, { maxPageSize: 7 })
        .pipe(positions(), takeUntil(timer(9_000))),
    );
    flush();
    const ids = seen.values.map(([update]) => idOf(update));
    return seen.values.map(([, position], index) => {
      const kept: unknown = JSON.parse(JSON.stringify(position));
      if (!LedgerPosition.is(kept)) throw new Error('a position is not plain JSON');
      return { read: ids.slice(0, index + 1), position: { ...kept, participantId: node.participantId } };
    });
  });

/** What a participant has that was not read, in the order of each synchronizer. */
function unreadOn({ updates }: Node, read: readonly string[]): ReadonlyMap<string, readonly string[]> {
  return bySynchronizer(updates.filter(({ updateId }) => !read.includes(updateId)));
}

function bySynchronizer(updates: readonly Recorded[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...new Set(updates.map(({ synchronizerId }) => synchronizerId))]
      .sort()
      .map((id) => [id, updates.filter(({ synchronizerId }) => synchronizerId === id).map(({ updateId }) => updateId)]),
  );
}

type Move = (node: Node, position: LedgerPosition) => readonly Recorded[];

/** Continues with `updates`. */
const follow: Move = (node, after) => followAt(serve(node), after);

const followAt = (port: HttpPort, after: LedgerPosition): readonly Recorded[] =>
  marbles(({ flush }) => {
    const retry = { baseDelayMs: 10, maxDelayMs: 20 };
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port, retry });
    const updates$ = ledger.updates({ after, updateFormat }, { onOtherNode: 'relocate' });
    const seen = observe(updates$.pipe(takeUntil(timer(130_000))));
    flush();
    expect(seen.error).toBeUndefined();
    return seen.values as unknown as readonly Recorded[];
  });

/** Leads an address to the second node after some requests. */
function leadAway(from: HttpPort, to: HttpPort, requests: number): HttpPort {
  let count = 0;
  return (request) => defer(() => (++count > requests ? to : from)(request));
}

/** Continues with a processor, from a stored cursor. */
const processFrom: Move = (node, position) =>
  marbles(({ flush }) => {
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: serve(node) });
    const handled: unknown[] = [];
    const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat }, { onOtherNode: 'relocate', maxPageSize: 5 });
    const store = memoryStore();
    const run = () =>
      observe(
        processFeed(feed, (update) => void handled.push(update), { name: 'p', store }).pipe(takeUntil(timer(4_000))),
      );
    // the first run stores the selection of the request
    const first = run();
    flush();
    const [cursor] = store.load('p') as readonly object[];
    void store.save('p', { ...cursor, ...position } as never, undefined);
    handled.length = 0;
    const second = run();
    flush();
    expect([first.error, second.error]).toEqual([undefined, undefined]);
    return handled as readonly Recorded[];
  });

const { before, after } = read('restored-participant') as Record<'before' | 'after', readonly Recorded[]>;
const { nodes, participants } = read('two-nodes') as {
  readonly nodes: Record<'a' | 'c', readonly Recorded[]>;
  readonly participants: Record<'a' | 'c', string>;
};
const backup = { participantId: 'p::1220ab', updates: before };
const restored = { participantId: 'p::1220ab', updates: after };
const a = { participantId: participants.a, updates: nodes.a };
const c = { participantId: participants.c, updates: nodes.c };

describe.each<[string, Move]>([
  ['a feed', follow],
  ['a processor', processFrom],
])('%s continues at every recorded position without a gap or a repetition (G19)', (_, move) => {
  it.each<[string, Node, Node, number]>([
    ['of a participant that was restored from a backup', backup, restored, 99],
    ['on another participant', a, c, 120],
    ['back on the first participant', c, a, 120],
  ])('%s', (_name, from, to, count) => {
    const all = positionsOn(from);
    expect(all).toHaveLength(Math.min(count, from.updates.length));
    for (const { read: ids, position } of all)
      expect({ after: ids.at(-1), unread: bySynchronizer(move(to, position)) }).toEqual({
        after: ids.at(-1),
        unread: unreadOn(to, ids),
      });
  });
});

/** A participant that has read two thirds of the history so far. */
const lagging = ({ participantId, updates }: Node): Node => ({
  participantId,
  updates: updates.slice(0, 80),
});

/** A participant with the same updates at higher offsets, in the middle of which the offsets of the other one end. */
const ahead = ({ updates }: Node): Node => ({
  participantId: 'p::1220cd',
  updates: updates.map((update) => ({ ...update, offset: update.offset + 100 })),
});

describe('an address that leads to another participant during a search (G19)', () => {
  const indices = [20, 60, 82, 84, 86, 88, 100].filter((_, n) => n % effort(3, 1) === 0);
  it.each<[string, Node, Node]>([
    ['back to that of the position', c, a],
    ['back from one that lags', lagging(c), a],
    ['back from one that lags, with higher offsets', lagging(ahead(a)), a],
    ['away from that of the position', a, c],
    ['away from it, and it lags', lagging(a), c],
  ])('%s', (_name, searched, answering) => {
    const all = positionsOn(a);
    for (const { read: ids, position } of indices.flatMap((index) => all[index] ?? []))
      // the search has ended after the last of these
      for (let requests = 0; requests <= 16; requests++) {
        const port = leadAway(serve(searched), serve(answering), requests);
        expect({ after: ids.at(-1), requests, unread: bySynchronizer(followAt(port, position)) }).toEqual({
          ...{ after: ids.at(-1), requests },
          unread: unreadOn(answering, ids),
        });
      }
  });
});
