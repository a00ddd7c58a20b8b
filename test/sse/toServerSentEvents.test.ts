import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { BehaviorSubject, NEVER, of, Subject, throwError } from 'rxjs';
import type { AnyContract } from '../../src/contracts/Contract.js';
import type { ContractChange } from '../../src/contracts/ContractChange.js';
import { conflate } from '../../src/contracts/conflate.js';
import { contractsFor } from '../../src/contracts/contractsFor.js';
import { PrunedError } from '../../src/errors/feed.js';
import { ChangeLog, LogReader } from '../../src/sse/ChangeLog.js';
import {
  serverSentEventsHeaders,
  serverSentEventsResponse,
  type ServerSentEventsOptions,
  toServerSentEvents,
} from '../../src/sse/index.js';
import { stopClock } from '../helpers/time.js';
import { alice, bob, briefEvent, cancelAll, contract, idOf, ServerView, StreamReader } from './support.js';

afterEach(cancelAll);

/** A reader of the contracts of a view. */
const open = ({ live }: ServerView, options?: ServerSentEventsOptions): StreamReader =>
  new StreamReader(toServerSentEvents(live.changes$, options));

/** The next events of a reader, one line each. */
const briefs = async (reader: StreamReader, count: number): Promise<readonly (string | undefined)[]> =>
  (await reader.texts(count)).map(briefEvent);

/** A server with a contract, and a reader that has it. */
async function opened(options?: ServerSentEventsOptions) {
  const server = new ServerView();
  const reader = open(server, options);
  server.reset([contract('a')]);
  const [first] = await reader.texts(1);
  return { server, reader, id: idOf(first) };
}

/** The number of timers that wait. */
const timers = (): number => jest.getTimerCount();

const named = (offset: number, id: string): AnyContract => contract(id, [alice], { offset });

describe('toServerSentEvents', () => {
  it('sends all contracts, then each change', async () => {
    const server = new ServerView();
    const reader = open(server);
    expect(await reader.text()).toBe('retry: 1000\n\n');
    server.reset([contract('a'), contract('b')]);
    expect(await briefs(reader, 1)).toEqual(['reset 1 start a,b']);
    server.change({ add: [named(2, 'c')], remove: ['a'] });
    server.change({ move: ['b'] });
    server.checkpoint();
    server.catchUp(false);
    server.catchUp(true);
    expect(await briefs(reader, 5)).toEqual([
      'changed 2 +c -a',
      'changed 3 ~b',
      'checkpoint 4',
      'fellBehind 4',
      'caughtUp 4',
    ]);
  });

  it('sends JSON on one line, whatever the payloads have, with an ID for each event', async () => {
    const payload = 'a\r\nb\n\nevent: reset\ndata: {}\u2028\0\ud800€';
    const server = new ServerView();
    const reader = open(server);
    server.reset([contract('a', [alice], { payload })]);
    const texts = [...(await reader.texts(1))];
    server.change({ add: [contract('b', [alice], { payload: { amount: '9223372036854775807', [payload]: 1 } })] });
    texts.push(...(await reader.texts(1)));
    for (const text of texts) expect(text).toMatch(/^event: \w+\nid: [0-9a-f]{32}-\d+\ndata: \{[^\r\n]*\}\n\n$/);
    expect(new Set(texts.map(idOf)).size).toBe(2);
    const data = texts.map((text) => JSON.parse(/^data: ([^\n]*)$/m.exec(text ?? '')?.[1] ?? '') as SentPayloads);
    expect(data[0]?.contracts?.[0]?.createdEvent.createArgument).toEqual({ payload });
    expect(data[1]?.added?.[0]?.createdEvent.createArgument).toEqual({
      payload: { amount: '9223372036854775807', [payload]: 1 },
    });
    expect(data[0]).toMatchObject({ version: 1 });
  });

  it('continues after the last event of another connection', async () => {
    const { server, reader, id } = await opened();
    server.change({ add: [named(2, 'b')] });
    server.change({ add: [named(3, 'c')] });
    const resumed = open(server, { lastEventId: id });
    expect(await briefs(resumed, 3)).toEqual(['changed 2 +b', 'changed 3 +c', 'resumed 3']);
    const [b] = await reader.texts(1);
    expect(await briefs(open(server, { lastEventId: idOf(b) }), 2)).toEqual(['changed 3 +c', 'resumed 3']);
    // an array, as some servers have headers
    const texts = await open(server, { lastEventId: [id] }).texts(3);
    expect(texts.map(briefEvent)).toEqual(['changed 2 +b', 'changed 3 +c', 'resumed 3']);
    expect(await briefs(open(server, { lastEventId: idOf(texts[2]) }), 1)).toEqual(['resumed 3']);
    server.catchUp(false);
    expect((await open(server, { lastEventId: idOf(texts[2]) }).texts(2))[1]).toContain('"isCaughtUp":false');
  });

  it('begins with all contracts for any other ID', async () => {
    const { server, id } = await opened();
    server.change({ add: [named(2, 'b')] });
    const other = await opened();
    const [name = ''] = id.split('-');
    const ids = [
      ...[other.id, '', ' ', id.toUpperCase(), `${id} `, ` ${id}`, `${id}\0`, name, `${name}-`, `${name}-0`],
      ...['-1', '99', '1e0', '0x2', '01', '+1', '1.0', '9007199254740993', 'NaN', 'Infinity', '1-1', '１'].map(
        (number) => `${name}-${number}`,
      ),
      ...[`${name}-${'1'.repeat(1e6)}`, 'x'.repeat(1e7), `${name}-2-${name}-2`, '__proto__', '../../1', '[1,2]'],
    ];
    for (const lastEventId of ids)
      expect(await briefs(open(server, { lastEventId }), 1)).toEqual(['reset 2 start a,b']);
    expect(await briefs(open(server, { lastEventId: [id, id] }), 1)).toEqual(['reset 2 start a,b']);
    expect(await briefs(open(server, { lastEventId: null }), 1)).toEqual(['reset 2 start a,b']);
  });

  it('cuts a slow reader to all contracts, and keeps at most so many events', async () => {
    const { server, reader, id } = await opened({ maxBuffered: 3 });
    for (const letter of ['b', 'c', 'd']) server.change({ add: [named(server.offset + 1, letter)] });
    expect(await briefs(open(server, { lastEventId: id, maxBuffered: 3 }), 1)).toEqual(['changed 2 +b']);
    server.change({ remove: ['a'] });
    expect(await briefs(open(server, { lastEventId: id, maxBuffered: 3 }), 1)).toEqual(['reset 5 start b,c,d']);
    server.change({ remove: ['b'] });
    expect(await briefs(reader, 1)).toEqual(['reset 6 start c,d']);
    server.change({ remove: ['c'] });
    expect(await briefs(reader, 1)).toEqual(['changed 7 -c']);
  });

  it('sends nothing more of what a reader had missed once it is cut', async () => {
    const { server, id } = await opened({ maxBuffered: 2 });
    server.change({ add: [named(2, 'b')] });
    const resumed = open(server, { lastEventId: id, maxBuffered: 2 });
    for (const letter of ['c', 'd', 'e']) server.change({ add: [named(server.offset + 1, letter)] });
    expect(await briefs(resumed, 1)).toEqual(['reset 5 start a,b,c,d,e']);
    const next = briefs(resumed, 2);
    server.checkpoint();
    server.checkpoint();
    expect(await next).toEqual(['checkpoint 6', 'checkpoint 7']);
  });

  it('holds no more events than its connections need', () => {
    const log = new ChangeLog();
    for (const maxBuffered of [2, 3, 1]) new LogReader(log, undefined, maxBuffered);
    log.add({ _tag: 'Reset', reason: 'start', offset: 1, contracts: [] });
    for (let offset = 2; offset < 9; offset += 1) log.add({ _tag: 'CaughtUp', offset });
    expect([3, 4, 5, 6, 7, 8].map((number) => log.after(number) !== undefined)).toEqual([
      ...[false, false, true, true, true, false],
    ]);
    // 60 events of 0.1 MB, one after the other
    const payload = 'x'.repeat(100_000);
    for (let offset = 9; offset < 69; offset += 1) {
      const added = [contract('a', [alice], { payload, offset })];
      log.add({ _tag: 'ContractsChanged', reason: 'appeared', offset, added, removed: [], moved: [] });
    }
    expect([64, 65, 66, 67].map((number) => log.after(number) !== undefined)).toEqual([false, true, true, true]);
  });

  it('lets each connection lag as far as it says, up to 2 MiB', async () => {
    const { server, id } = await opened({ maxBuffered: 10 });
    for (let count = 0; count < 4; count += 1) server.checkpoint();
    expect(await briefs(open(server, { lastEventId: id, maxBuffered: 3 }), 1)).toEqual(['reset 5 start a']);
    expect(await briefs(open(server, { lastEventId: id, maxBuffered: 4 }), 1)).toEqual(['checkpoint 2']);
    const payload = 'x'.repeat(2 ** 20);
    server.change({ add: [contract('b', [alice], { payload })] });
    expect(await briefs(open(server, { lastEventId: id }), 1)).toEqual(['reset 6 start a,b']);
    // the last event is held, whatever its size
    const [large] = await open(server, { lastEventId: id }).texts(1);
    server.change({ add: [contract('c', [alice], { payload })] });
    expect(await briefs(open(server, { lastEventId: idOf(large) }), 1)).toEqual(['changed 7 +c']);
    server.reset([contract('a')], 'pruned');
    const [small] = await open(server).texts(1);
    server.checkpoint();
    server.checkpoint();
    expect(await briefs(open(server, { lastEventId: idOf(small) }), 1)).toEqual(['checkpoint 9']);
  });

  it('encodes a change once for 1 000 connections, and reads the view once', async () => {
    const server = new ServerView();
    let reads = 0;
    const payload = {
      toJSON: () => {
        reads += 1;
        return 'read';
      },
    };
    const readers = Array.from({ length: 1_000 }, () => open(server));
    server.reset([contract('a', [alice], { payload })]);
    expect(server.subscriptions).toBe(1);
    await Promise.all(readers.map((reader) => reader.texts(1)));
    expect(reads).toBe(1);
    reads = 0;
    server.change({ add: [contract('b', [alice], { payload })] });
    const texts = await Promise.all(readers.map((reader) => reader.texts(1)));
    expect(texts.map(([text]) => briefEvent(text))).toEqual(readers.map(() => 'changed 2 +b'));
    // once in the contract and once in the update
    expect(reads).toBe(2);
  });

  it('ends with its last connection, leaves no timer, and begins again with other IDs', async () => {
    const { hasTimer } = stopClock();
    const { server, reader, id } = await opened();
    const second = open(server);
    await hasTimer();
    await reader.cancel();
    expect(server.subscriptions).toBe(1);
    await second.cancel();
    expect(server.subscriptions).toBe(0);
    expect(timers()).toBe(0);
    const third = open(server, { lastEventId: id });
    expect(await briefs(third, 1)).toEqual(['reset 1 start a']);
  });

  it('is kept for a time after its last connection, if the option says so', async () => {
    const { advance } = stopClock();
    const { server, reader, id } = await opened({ keepMs: 1_000 });
    await reader.cancel();
    await advance(999);
    server.change({ add: [named(2, 'b')] });
    const second = open(server, { lastEventId: id, keepMs: 1_000 });
    expect(await briefs(second, 1)).toEqual(['changed 2 +b']);
    await second.cancel();
    await advance(1_000);
    expect(server.subscriptions).toBe(0);
    expect(timers()).toBe(0);
    expect(await briefs(open(server, { lastEventId: id }), 1)).toEqual(['reset 2 start a,b']);
  });

  it('sends comments while there is nothing else', async () => {
    const { advance } = stopClock();
    const { server, reader } = await opened({ heartbeatMs: 100 });
    const chunk = reader.text();
    await advance(100);
    expect(await chunk).toBe(':\n\n');
    // a reader that takes nothing gets no comments either
    await advance(1_000);
    server.change({ remove: ['a'] });
    expect(await briefs(reader, 1)).toEqual(['changed 2 -a']);
  });

  it('ends when the authorization does', async () => {
    for (const [end, until] of [
      [() => undefined, () => of('emitted at once')],
      [
        (subject: Subject<unknown>) => {
          subject.next(1);
        },
        (subject: Subject<unknown>) => subject,
      ],
      [
        (subject: Subject<unknown>) => {
          subject.complete();
        },
        (subject: Subject<unknown>) => subject,
      ],
      [
        (subject: Subject<unknown>) => {
          subject.error(new Error('log-in service'));
        },
        (subject: Subject<unknown>) => subject,
      ],
    ] as const) {
      const server = new ServerView();
      const subject = new Subject<unknown>();
      const reader = open(server, { until$: until(subject) });
      server.reset([contract('a')]);
      end(subject);
      // what was not read is not sent any more
      expect(await reader.text()).toBeUndefined();
      expect(server.subscriptions).toBe(0);
    }
    const reader = open(new ServerView(), { until$: NEVER });
    expect(await reader.text()).toBe('retry: 1000\n\n');
  });

  it('sends what a reader has not read when the view ends, and the name of its error', async () => {
    const server = new ServerView();
    const reader = open(server);
    server.reset([contract('a')]);
    server.change({ add: [named(2, 'b')] });
    server.fail(new PrunedError('/v2/updates', 7));
    const texts = await reader.texts(3);
    expect(texts.map(briefEvent)).toEqual(['reset 2 start a,b', 'failed PrunedError', undefined]);
    expect(texts[1]).not.toContain('updates');
    const ended = new StreamReader(toServerSentEvents(of<ContractChange>({ _tag: 'CaughtUp', offset: 1 })));
    expect(await ended.texts(1)).toEqual([undefined]);
    const failed = new StreamReader(toServerSentEvents(throwError(() => new Error('secret'))));
    expect(await briefs(failed, 2)).toEqual(['failed Error', undefined]);
    const afterwards = open(server);
    expect(await briefs(afterwards, 1)).toEqual(['reset 2 start a,b']);
  });

  it('sends the reason of a reset to those that had other contracts before', async () => {
    const { server, reader } = await opened();
    server.reset([contract('b')], 'ledgerReset', 1);
    expect(await briefs(reader, 1)).toEqual(['reset 1 ledgerReset b']);
    expect(await briefs(open(server), 1)).toEqual(['reset 1 start b']);
    // one that has read it, and is slow later
    const slow = open(server, { maxBuffered: 1 });
    expect(await briefs(slow, 1)).toEqual(['reset 1 start b']);
    for (const letter of ['c', 'd']) server.change({ add: [named(server.offset + 1, letter)] });
    expect(await briefs(slow, 1)).toEqual(['reset 3 start b,c,d']);
    // what was before it is not sent any more
    const other = open(server);
    expect(await briefs(other, 1)).toEqual(['reset 3 start b,c,d']);
    server.change({ remove: ['c'] });
    server.reset([contract('e')], 'pruned');
    expect(await briefs(other, 1)).toEqual(['reset 5 pruned e']);
    // a prune after it does not hide that the ledger is another one
    server.reset([contract('f')], 'ledgerReset', 1);
    server.reset([contract('g')], 'pruned', 2);
    expect(await briefs(other, 1)).toEqual(['reset 2 ledgerReset g']);
    server.reset([contract('h')], 'pruned', 3);
    expect(await briefs(other, 1)).toEqual(['reset 3 pruned h']);
  });

  it('removes what the user may not see any more, and does not send it to a connection that resumes', async () => {
    const server = new ServerView();
    const parties$ = new BehaviorSubject([alice, bob]);
    const { changes$ } = contractsFor(server.live, parties$);
    const reader = new StreamReader(toServerSentEvents(changes$));
    const begun = reader.texts(1);
    server.reset([contract('a', [alice])]);
    const before = idOf((await begun)[0]);
    server.change({ add: [contract('b', [bob], { offset: 2 })] });
    parties$.next([alice]);
    server.change({ add: [contract('c', [bob], { offset: 3 }), contract('d', [alice], { offset: 3 })] });
    const resumed = await new StreamReader(toServerSentEvents(changes$, { lastEventId: before })).texts(1);
    expect(resumed.map(briefEvent)).toEqual(['reset 3 start a,d']);
    expect(JSON.stringify(resumed)).not.toContain('secret of b');
    // also for a connection that has not read it
    const rest = await reader.texts(1);
    expect(rest.map(briefEvent)).toEqual(['reset 3 start a,d']);
    parties$.next([]);
    expect(await briefs(reader, 1)).toEqual(['changed 3 selectionChanged -a,d']);
  });

  it('does not send it either if it is archived by then, or if a conflated view merges the change of the parties', async () => {
    const { advance } = stopClock();
    for (const periodMs of [0, 100]) {
      const server = new ServerView();
      const parties$ = new BehaviorSubject([alice, bob]);
      const view = contractsFor(server.live, parties$);
      const { changes$ } = periodMs === 0 ? view : conflate(view, periodMs);
      const reader = new StreamReader(toServerSentEvents(changes$));
      const begun = reader.texts(1);
      server.reset([contract('a')]);
      const before = idOf((await begun)[0]);
      await advance(periodMs);
      server.change({ add: [contract('b', [bob], { offset: 2 })] });
      await advance(periodMs);
      server.change({ remove: ['b'] });
      parties$.next([alice]);
      server.change({ add: [contract('c', [alice], { offset: 4 })] });
      await advance(periodMs);
      const resumed = await new StreamReader(toServerSentEvents(changes$, { lastEventId: before })).texts(1);
      expect(resumed.map(briefEvent)).toEqual(['reset 4 start a,c']);
      expect(JSON.stringify(resumed)).not.toContain('secret of b');
    }
  });

  it('throws for numbers out of range', () => {
    const { live } = new ServerView();
    for (const options of [{ heartbeatMs: 0 }, { maxBuffered: 0 }, { maxBuffered: 1.5 }, { keepMs: -1 }])
      expect(() => toServerSentEvents(live.changes$, options)).toThrow(TypeError);
  });
});

describe('serverSentEventsResponse', () => {
  it('is a response that no proxy stores or holds back', async () => {
    const server = new ServerView();
    server.reset([contract('a')]);
    const { status, headers, body } = serverSentEventsResponse(server.live.changes$, { maxBuffered: 5 });
    expect([status, Object.fromEntries(headers)]).toEqual([200, serverSentEventsHeaders]);
    expect(headers.get('content-type')).toBe('text/event-stream');
    if (body === null) throw new Error('no body');
    const reader = new StreamReader(body);
    expect(await briefs(reader, 1)).toEqual(['reset 1 start a']);
    await reader.cancel();
    expect(server.subscriptions).toBe(0);
  });
});

interface SentPayloads {
  readonly contracts?: readonly { readonly createdEvent: { readonly createArgument: unknown } }[];
  readonly added?: SentPayloads['contracts'];
}
