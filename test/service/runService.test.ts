import process from 'node:process';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  BehaviorSubject,
  catchError,
  finalize,
  firstValueFrom,
  ignoreElements,
  iif,
  map,
  mergeMap,
  NEVER,
  Observable,
  of,
  Subject,
  switchMap,
  takeUntil,
  throwError,
  timer,
} from 'rxjs';
import { automate } from '../../src/automation/index.js';
import { acsDelta, ConnectionError, createLedger, CursorError, type Ledger, StoreError } from '../../src/index.js';
import {
  type HandlerResult,
  memoryStore,
  type ProcessOptions,
  processFeed,
  type ProcessStatus,
  updatesFeed,
} from '../../src/process/index.js';
import {
  runService,
  type ServiceOptions,
  type ServiceParts,
  type ServiceStatus,
  type WorkStatus,
} from '../../src/service/index.js';
import { ServiceError } from '../../src/service/runParts.js';
import { sandboxes } from '../helpers/localServers.js';
import { itInVirtualTime, until } from '../helpers/time.js';

const newSandbox = sandboxes();
const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
  process.exitCode = undefined;
});

/** A ledger with some updates. */
async function world(updates = 5) {
  const sandbox = await newSandbox();
  if (updates > 0) sandbox.generate(updates);
  const ledger = createLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 20, maxDelayMs: 50 } });
  return { sandbox, ledger };
}

/** A processor of all updates of a ledger. */
const processorOf = (
  ledger: Ledger,
  name: string,
  handler: () => HandlerResult = () => undefined,
  options: Partial<ProcessOptions> = {},
) =>
  processFeed(updatesFeed(ledger, { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }), handler, {
    name,
    store: memoryStore(),
    ...options,
  } as ProcessOptions);

/** Runs a service, and ends it with the test. */
function run(parts: ServiceParts, options: ServiceOptions = {}) {
  const lines: string[] = [];
  const state: { last?: ServiceStatus; error?: unknown; isOver: boolean } = { isOver: false };
  const running = runService(parts, { port: 0, log: (line) => lines.push(line), ...options }).subscribe({
    next: (status) => (state.last = status),
    error: (error: unknown) => {
      state.error = error;
      state.isOver = true;
    },
    complete: () => (state.isOver = true),
  });
  ends.push(() => {
    running.unsubscribe();
  });
  const over = () => until(() => state.isOver);
  const url = async (): Promise<string> => {
    await until(() => state.last?.url !== undefined);
    return state.last?.url ?? '';
  };
  const read = async (path: string, init?: RequestInit) => {
    const response = await fetch((await url()) + path, init);
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  };
  const becomes = (path: string, status: number) => until(async () => (await read(path)).status === status);
  return { lines, state, over, url, read, becomes };
}

/** The status of a rule that acts. */
const acting: WorkStatus = {
  ...{ rule: 'part', role: 'leader', state: 'running' },
  ...{ waiting: 0, due: 0, running: 0, parked: 0, oldestMs: 0 },
};

/** A part that ends as an Observable does, with a stop that it may ignore. */
function partOf(source$: Observable<unknown>, ignoresStop = false) {
  const stops$ = new Subject<void>();
  const status$ = new BehaviorSubject(acting);
  const part$ = ignoresStop ? source$ : source$.pipe(takeUntil(stops$));
  return Object.assign(part$, {
    status$,
    stop: () => {
      stops$.next();
    },
  });
}

describe('a service', () => {
  it('is ready when every part has caught up or acts, and shows the status and the metrics of all', async () => {
    const { sandbox, ledger } = await world();
    const unlock$ = new Subject<void>();
    const payments = processorOf(ledger, 'payments', () => firstValueFrom(unlock$, { defaultValue: 0 }));
    const rule = automate(ledger, {
      name: 'accept',
      query: { parties: 'any' },
      actAs: ['a::1220'],
      where: () => false,
      act: () => undefined,
    });
    const service = run({ ledger, processors: [payments], rules: [rule] });
    expect(await service.read('/livez')).toMatchObject({ status: 200, text: 'ok\n' });
    const { status, text } = await service.read('/readyz');
    expect(status).toBe(503);
    const { waitsFor } = JSON.parse(text) as { readonly waitsFor: readonly unknown[] };
    // the rule may be ready by now
    expect(waitsFor[0]).toMatchObject({ name: 'processor payments', notReady: expect.stringMatching(/^it /) });

    unlock$.complete();
    await service.becomes('/readyz', 200);
    expect(JSON.parse((await service.read('/readyz?verbose')).text)).toEqual({ isReady: true, waitsFor: [] });
    expect(JSON.parse((await service.read('/status')).text)).toMatchObject({
      state: 'running',
      isReady: true,
      processors: [{ processor: 'payments', isReady: true, state: 'caughtUp', offset: sandbox.ledgerEnd }],
      rules: [{ rule: 'accept', isReady: true, role: 'leader', state: 'running' }],
      outboxes: [],
    });
    const metrics = await service.read('/metrics');
    expect(metrics.type).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(metrics.text.split('\n')).toEqual(
      expect.arrayContaining([
        '# TYPE canton_rx_ready gauge',
        'canton_rx_ready 1',
        'canton_rx_part_ready{canton_rx_processor_name="payments"} 1',
        'canton_rx_part_ready{canton_rx_rule_name="accept"} 1',
        'canton_rx_lag_offsets{canton_rx_processor_name="payments"} 0',
        `canton_rx_processor_offset{canton_rx_processor_name="payments"} ${sandbox.ledgerEnd}`,
        'canton_rx_processor_role{canton_rx_processor_name="payments",canton_rx_processor_role="leader"} 1',
      ]),
    );
    expect(await service.read('/other')).toMatchObject({ status: 404 });
    expect(await service.read('/status', { method: 'POST' })).toMatchObject({ status: 405 });
  });

  it.each<[string, Partial<WorkStatus>, string | undefined]>([
    ['acts', {}, undefined],
    ['stands by', { role: 'standby', state: 'waiting' }, undefined],
    ['was stopped', { role: 'starting', state: 'ended' }, undefined],
    ['starts', { role: 'starting', state: 'waiting' }, 'it starts: its contracts or its store are not known'],
    ['has lost its database', { state: 'disconnected', error: 'refused' }, 'its store cannot be reached'],
    ['has failed', { role: 'starting', state: 'ended', error: 'pruned' }, 'it has failed'],
  ])('says why a rule is not ready that %s', async (_, status, notReady) => {
    const rule = partOf(NEVER);
    const service = run({ rules: [rule] });
    rule.status$.next({ ...acting, ...status });
    const { text } = await service.read('/readyz');
    const isReady = notReady === undefined;
    expect(JSON.parse(text)).toMatchObject({
      isReady,
      waitsFor: isReady ? [] : [{ name: 'rule part', notReady }],
    });
    expect(service.state.last?.rules[0]).toMatchObject({ isReady, ...(!isReady && { notReady }) });
  });

  it('numbers rules and outboxes that have not been read yet, such as while no connection is free', async () => {
    const unread = () =>
      Object.assign(new Observable<never>(() => undefined), { status$: NEVER, stop: () => undefined });
    const service = run({ rules: [unread()], outboxes: [unread(), unread()] });
    const { waitsFor } = JSON.parse((await service.read('/readyz')).text) as { waitsFor: { name: string }[] };
    expect(waitsFor.map(({ name }) => name)).toEqual(['rule 1', 'outbox 1', 'outbox 2']);
    const { text } = await service.read('/metrics');
    expect(text).not.toContain('name=""');
    expect(text).toContain('canton_rx_part_ready{canton_rx_outbox_name="2"} 0');
  });

  it('has the lag and the last commit of processors that work, and the worst of those with the same name', async () => {
    const seen = { ledgerEnd: 20, seenAt: Date.now(), at: Date.now(), handled: 0, updatesPerSecond: 0 };
    const working = { role: 'leader', state: 'catchingUp', offset: 13, recordTimeLagMs: 3_000, lagOffsets: 7 } as const;
    const processorWith = (processor: string, status: object) =>
      Object.assign(new Observable<never>(), {
        status$: of({ ...seen, processor, ...working, committedAt: seen.at - 5_000, ...status } as ProcessStatus),
        stop: () => undefined,
      });
    const ended = { role: 'starting', state: 'ended', lagOffsets: undefined } as const;
    const service = run({
      processors: [
        // of two ledgers, with two stores
        processorWith('twin', { ...ended, error: 'pruned' }),
        processorWith('twin', { state: 'caughtUp', offset: 20, lagOffsets: 0, recordTimeLagMs: 4_000 }),
        processorWith('slow', {}),
        processorWith('slow', { recordTimeLagMs: 1_000, lagOffsets: 2, committedAt: seen.at }),
        // they have led before
        processorWith('replica', { role: 'standby', state: 'waiting', lagOffsets: undefined }),
        processorWith('paused', { role: 'standby', state: 'paused', lagOffsets: undefined }),
        processorWith('ended', ended),
      ],
    });
    const page = (await service.read('/metrics')).text;
    const valuesOf = (name: string): readonly string[] =>
      [...page.matchAll(/^(?:canton_rx_)(\w+)\{canton_rx_processor_name="(\w+)"\} (.*)$/gm)]
        .filter(([, , processor]) => processor === name)
        .map(([, metric, , value]) => `${metric} ${value}`);
    expect(valuesOf('twin')).toEqual([
      'part_ready 0',
      'part_failed 1',
      'lag_offsets 0',
      'lag_record_time_seconds 4',
      'commit_age_seconds 5',
    ]);
    expect(valuesOf('slow')).toEqual([
      'part_ready 0',
      'part_failed 0',
      'lag_offsets 7',
      'lag_record_time_seconds 3',
      'commit_age_seconds 5',
    ]);
    for (const name of ['replica', 'paused', 'ended'])
      expect(valuesOf(name)).toEqual(['part_ready 1', 'part_failed 0']);
  });

  it('finishes what is in flight at SIGTERM, flushes, and completes', async () => {
    const { ledger } = await world(3);
    const handling = new BehaviorSubject(0);
    const unlock$ = new Subject<void>();
    const events: string[] = [];
    const processor = processorOf(ledger, 'payments', async () => {
      handling.next(handling.value + 1);
      await firstValueFrom(unlock$, { defaultValue: 0 });
      events.push('handled');
    });
    const service = run(
      { processors: [processor] },
      {
        flush: () => {
          events.push('flushed');
        },
      },
    );
    await until(() => handling.value === 1);
    const url = await service.url();
    process.emit('SIGTERM');
    await service.becomes('/readyz', 503);
    expect(JSON.parse((await service.read('/status')).text)).toMatchObject({ state: 'stopping', reason: 'SIGTERM' });
    expect((await service.read('/livez')).status).toBe(200);
    unlock$.complete();
    await service.over();
    expect(service.state.error).toBeUndefined();
    // the one update that was in flight
    expect(events).toEqual(['handled', 'flushed']);
    expect(service.state.last?.processors).toMatchObject([{ state: 'ended', handled: 1 }]);
    expect(service.lines).toEqual([
      expect.stringMatching(/^the service listens on http:/),
      'the service stops: SIGTERM',
      'the service has ended: SIGTERM',
    ]);
    expect(process.exitCode).toBeUndefined();
    await expect(fetch(url)).rejects.toThrow();
    // a second signal ends the process, as by default
    expect(process.listenerCount('SIGTERM')).toBe(0);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('the file is closed');
      },
    ],
    // a rejection that nothing handles fails the test
    ['rejects', () => Promise.reject(new Error('the file is closed'))],
  ])('finishes what is in flight, and flushes, with a log that %s', async (_, log) => {
    const { ledger } = await world(1);
    const handling = new BehaviorSubject(0);
    const unlock$ = new Subject<void>();
    const events: string[] = [];
    const processor = processorOf(ledger, 'payments', async () => {
      handling.next(handling.value + 1);
      await firstValueFrom(unlock$, { defaultValue: 0 });
      events.push('handled');
    });
    const flush = (): void => {
      events.push('flushed');
    };
    const service = run(
      { processors: [processor], rules: [partOf(throwError(() => new Error('no')))] },
      { log, flush },
    );
    await until(() => handling.value === 1);
    process.emit('SIGTERM');
    unlock$.complete();
    await service.over();
    expect(events).toEqual(['handled', 'flushed']);
    expect(service.state.error).toBeInstanceOf(ServiceError);
  });

  it('goes on when a part fails, is not ready, and fails at its end', async () => {
    const { ledger } = await world();
    const stopping = new AbortController();
    const bad = processorOf(ledger, 'bad', () => {
      throw new TypeError('no account');
    });
    const good = processorOf(ledger, 'good');
    const service = run({ ledger, processors: [bad, good] }, { signal: stopping.signal });
    await until(() => service.state.last?.processors[0]?.state === 'ended');
    await until(() => service.state.last?.processors[1]?.isReady === true);
    expect((await service.read('/readyz')).status).toBe(503);
    expect((await service.read('/metrics')).text).toContain(
      'canton_rx_part_failed{canton_rx_processor_name="bad"} 1\n',
    );
    stopping.abort();
    await service.over();
    expect(service.state.error).toBeInstanceOf(ServiceError);
    expect((service.state.error as ServiceError).failures).toMatchObject([
      { part: 'processor bad', error: { _tag: 'HandlerError' } },
    ]);
    expect(process.exitCode).toBe(1);
    const text = service.lines.join('\n');
    expect(text).toMatch(
      /processor bad failed: The handler failed: no account; the other parts continue\nthe service stops: its signal was aborted\nthe service has failed: its signal was aborted; processor bad failed: The handler failed: no account$/,
    );
  });

  it.each(['continue', 'stop'] as const)('ends with a failure: %s', async (onFailure) => {
    const { ledger } = await world();
    const bad = partOf(throwError(() => new CursorError('ledger', 'part', 'another participant')));
    const good = processorOf(ledger, 'good');
    const service = run({ processors: [good], rules: [bad] }, { onFailure });
    if (onFailure === 'continue') {
      await until(() => service.state.last?.processors[0]?.isReady === true);
      process.emit('SIGINT');
    }
    await service.over();
    expect(service.state.error).toMatchObject({ failures: [{ part: 'rule part' }] });
    expect(service.lines.join('\n')).toMatch(
      /^rule part failed: .*: another participant(; the other parts continue)?$/m,
    );
    expect(service.state.last?.reason).toBe(onFailure === 'stop' ? 'rule part failed' : 'SIGINT');
  });

  itInVirtualTime(
    'starts a part again that gave up on a ledger or a store, as long as it runs',
    ({ cold, expectObservable }) => {
      const lines: string[] = [];
      const gone = new ConnectionError('/v2/updates', 'the connection failed', { code: 'ECONNREFUSED' });
      const lost = new StoreError('save', 'one', 'the connection was closed');
      const part = partOf(
        iif(
          () => lines.length === 0,
          cold('--#', {}, gone),
          iif(() => lines.length === 1, cold('#', {}, lost), cold('-|')),
        ),
      );
      const log = (line: string): void => void lines.push(line);
      const over$ = runService({ rules: [part] }, { log }).pipe(ignoreElements());
      expectObservable(over$).toBe('--- 20s |');
      expectObservable(timer(30_000).pipe(map(() => lines.splice(0)))).toBe('30s (a|)', {
        a: [
          'rule part failed: The ledger cannot be reached (ECONNREFUSED); it begins again in 10 s',
          'rule part failed: The store failed: the connection was closed; it begins again in 10 s',
          'the service has ended: every part has ended',
        ],
      });
    },
  );

  it('does not wait for a part that is to begin again when it stops', async () => {
    const gone = new ConnectionError('/v2/updates', 'the connection failed', { code: 'ECONNREFUSED' });
    const service = run({ rules: [partOf(throwError(() => gone))] }, { drainWithinMs: 60_000 });
    await until(() => service.lines.some((line) => line.endsWith('it begins again in 10 s')));
    process.emit('SIGTERM');
    await service.over();
    expect(service.state.error).toBeUndefined();
  });

  it('listens once to the signals of its process, however many parts are to begin again', async () => {
    const before = process.listenerCount('SIGTERM');
    const gone = new ConnectionError('/v2/updates', 'the connection failed', { code: 'ECONNREFUSED' });
    const service = run({ rules: Array.from({ length: 12 }, () => partOf(throwError(() => gone))) });
    await until(() => service.lines.filter((line) => line.endsWith('it begins again in 10 s')).length === 12);
    expect(process.listenerCount('SIGTERM')).toBe(before + 1);
    process.emit('SIGTERM');
    await service.over();
    expect(service.state.error).toBeUndefined();
    expect(process.listenerCount('SIGTERM')).toBe(before);
  });

  itInVirtualTime('fails with a part that cannot save its work when it stops', ({ expectObservable }) => {
    const lines: string[] = [];
    const stopping = new AbortController();
    const full = new StoreError('save', 'one', 'the disk is full');
    const stops$ = new Subject<void>();
    const saving$ = stops$.pipe(
      switchMap(() => timer(5_000)),
      mergeMap(() => throwError(() => full)),
    );
    const part = Object.assign(saving$, {
      status$: of(acting),
      stop: () => {
        stops$.next();
      },
    });
    const log = (line: string): void => void lines.push(line);
    const over$ = runService({ rules: [part] }, { log, signal: stopping.signal }).pipe(
      ignoreElements(),
      catchError((error: unknown) => of(error instanceof ServiceError)),
    );
    timer(1_000).subscribe(() => {
      stopping.abort();
    });
    expectObservable(over$).toBe('6s (a|)', { a: true });
    expectObservable(timer(30_000).pipe(map(() => lines.splice(0)))).toBe('30s (a|)', {
      a: [
        'the service stops: its signal was aborted',
        'rule part failed: The store failed: the disk is full',
        'the service has failed: its signal was aborted; rule part failed: The store failed: the disk is full',
      ],
    });
  });

  it('does not begin a part after an earlier one has failed and stopped it', async () => {
    let begun = 0;
    const later = partOf(
      new Observable(() => {
        begun += 1;
      }),
    );
    const service = run(
      { rules: [partOf(throwError(() => new Error('no'))), later] },
      { onFailure: 'stop', drainWithinMs: 60_000 },
    );
    await service.over();
    expect(begun).toBe(0);
  });

  it('still finishes what is in flight at the first signal after a part has failed and stopped it', async () => {
    const gate$ = new Subject<void>();
    let isAborted = false;
    const slow = partOf(gate$.pipe(finalize(() => (isAborted = true))), true);
    const bad = partOf(throwError(() => new Error('no')));
    const service = run({ rules: [slow, bad] }, { onFailure: 'stop', drainWithinMs: 60_000 });
    await until(() => service.lines.includes('the service stops: rule part failed'));
    // a signal without a listener ends a process
    expect(process.emit('SIGTERM')).toBe(true);
    expect(process.listenerCount('SIGTERM')).toBe(0);
    expect(isAborted).toBe(false);
    gate$.complete();
    await service.over();
    expect(service.state.error).toMatchObject({ failures: [{ part: 'rule part' }] });
    expect(service.lines.filter((line) => line.startsWith('the service stops'))).toEqual([
      'the service stops: rule part failed',
    ]);
  });

  it('aborts what does not end in time, and fails, because that did not finish', async () => {
    let isAborted = false;
    const endless = partOf(NEVER.pipe(finalize(() => (isAborted = true))), true);
    const stopping = new AbortController();
    const prompt = partOf(NEVER);
    const service = run({ rules: [prompt, endless] }, { signal: stopping.signal, drainWithinMs: 50 });
    await service.url();
    expect(isAborted).toBe(false);
    stopping.abort();
    await service.over();
    expect(isAborted).toBe(true);
    const aborted = 'rule part failed: it did not end within 50 ms, and was aborted';
    expect(service.lines.slice(1)).toEqual([
      'the service stops: its signal was aborted',
      aborted,
      `the service has failed: its signal was aborted; ${aborted}`,
    ]);
    expect(service.state.error).toMatchObject({ failures: [{ part: 'rule part' }] });
    expect(process.exitCode).toBe(1);
  });

  it.each([2 ** 31, Infinity])('finishes what is in flight if it may take %d ms', async (drainWithinMs) => {
    const gate$ = new Subject<void>();
    let isAborted = false;
    const slow = partOf(gate$.pipe(finalize(() => (isAborted = true))), true);
    const stopping = new AbortController();
    const service = run({ rules: [slow] }, { signal: stopping.signal, drainWithinMs });
    await service.url();
    stopping.abort();
    // a time that a timer does not support would be over at once
    await firstValueFrom(timer(20));
    expect(isAborted).toBe(false);
    gate$.complete();
    await service.over();
    expect(service.lines.slice(1)).toEqual([
      'the service stops: its signal was aborted',
      'the service has ended: its signal was aborted',
    ]);
  });

  it.each<[string, Observable<unknown>]>([
    ['ended', timer(1)],
    ['failed', throwError(() => new Error('no'))],
  ])('finishes its flush at the first signal after every part has %s', async (_, source$) => {
    const heard: unknown[] = [];
    const gate$ = new Subject<void>();
    const flush = (): unknown => {
      // a signal without a listener ends a process
      heard.push(process.emit('SIGTERM'), process.listenerCount('SIGTERM'));
      return gate$;
    };
    const service = run({ rules: [partOf(source$)] }, { flush });
    await until(() => heard.length > 0);
    gate$.complete();
    await service.over();
    expect(heard).toEqual([true, 0]);
    expect(service.lines.at(-1)).toMatch(/^the service has (ended|failed): every part has ended/);
  });

  it('ends when every part has ended, whatever becomes of its flush', async () => {
    const service = run({ rules: [partOf(timer(1))] }, { flush: () => Promise.reject(new Error('no collector')) });
    await service.over();
    expect(service.state.error).toBeUndefined();
    expect(service.lines.slice(1)).toEqual([
      'the service could not flush',
      'the service has ended: every part has ended',
    ]);
  });

  itInVirtualTime('does not wait for a flush that takes more than five seconds', ({ cold, expectObservable }) => {
    const lines: string[] = [];
    const service = runService(
      { rules: [partOf(cold('3ms |'))] },
      { flush: () => NEVER, log: (line) => lines.push(line) },
    );
    expectObservable(service.pipe(ignoreElements())).toBe('3ms 5s |');
    expectObservable(timer(5_004).pipe(map(() => lines))).toBe('5004ms (a|)', {
      a: ['the service has not flushed within 5000 ms', 'the service has ended: every part has ended'],
    });
  });

  it('begins nothing if it cannot listen', async () => {
    let begun = 0;
    const part = (): ReturnType<typeof partOf> =>
      partOf(
        new Observable(() => {
          begun += 1;
        }),
      );
    const first = run({ rules: [part()] });
    const port = Number(new URL(await first.url()).port);
    const second = run({ rules: [part()] }, { port });
    await second.over();
    expect(second.state.error).toMatchObject({ code: 'EADDRINUSE' });
    expect(second.lines).toEqual([
      `the server of the service failed: Error: listen EADDRINUSE: address already in use 127.0.0.1:${port}`,
    ]);
    expect(begun).toBe(1);
  });

  it('refuses to run nothing, parts without a stop, and invalid options', () => {
    expect(() => runService({})).toThrow('there must be at least one processor, rule or outbox');
    const { status$ } = partOf(NEVER);
    expect(() => runService({ rules: [Object.assign(NEVER, { status$ }) as never] })).toThrow('without operators');
    const refused = (options: object) => expect(() => runService({ rules: [partOf(NEVER)] }, options));
    refused({ drainWithinMs: -1 }).toThrow('drainWithinMs');
    refused({ onFailure: 'Stop' }).toThrow("onFailure must be 'continue' or 'stop'");
    refused({ ready: { maxAgeMs: Number.NaN } }).toThrow('maxAgeMs');
  });
});
