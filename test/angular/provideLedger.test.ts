import '@angular/compiler';
import { provideHttpClient } from '@angular/common/http';
import { HttpTestingController, provideHttpClientTesting } from '@angular/common/http/testing';
import {
  createEnvironmentInjector,
  DestroyRef,
  EnvironmentInjector,
  inject,
  InjectionToken,
  Injector,
  PLATFORM_ID,
  runInInjectionContext,
  type EnvironmentProviders,
} from '@angular/core';
import { takeUntilDestroyed, toSignal } from '@angular/core/rxjs-interop';
import { TestBed } from '@angular/core/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom, lastValueFrom, map, NEVER, of, Subject, take, toArray } from 'rxjs';
import {
  injectLedger,
  LEDGER,
  type LedgerFeature,
  provideLedger,
  withAngularHttp,
  withServerFeeds,
} from '../../src/angular/index.js';
import type { HttpResponse } from '../../src/http/HttpPort.js';
import { observe } from '../helpers/observe.js';
import { ok, scripted, type Scripted } from '../helpers/scripted.js';
import { fill, upTo } from '../helpers/world.js';
import { VirtualLedger } from '../helpers/virtualLedger.js';
import { all, ledgerOf } from './support.js';

afterEach(() => {
  TestBed.resetTestingModule();
});

const baseUrl = 'http://ledger.example';
const server = { provide: PLATFORM_ID, useValue: 'server' };

/** A service that ends at 3 and answers at once, but never what comes after. */
function service(): Scripted {
  const ledger = new VirtualLedger();
  fill(ledger, 1, 2, 3);
  return scripted((asked) => ('stream_idle_timeout_ms' in asked.query ? NEVER : ledger.answer(asked).pipe(take(1))));
}

const provided = ({ port }: Scripted, ...features: readonly LedgerFeature[]): EnvironmentProviders =>
  provideLedger({ baseUrl, port }, ...features);

describe('provideLedger', () => {
  it('creates one ledger, and sends nothing by that', () => {
    const asked = service();
    const ledger = ledgerOf(provided(asked));
    expect(TestBed.inject(LEDGER)).toBe(ledger);
    expect(asked.asked).toEqual([]);
  });

  it('takes its options from a function that may inject, once', async () => {
    const { port } = scripted(() => of(ok({ offset: 42 })));
    const address = new InjectionToken<string>('address');
    let calls = 0;
    const ledger = ledgerOf(
      { provide: address, useValue: baseUrl },
      provideLedger(() => {
        calls += 1;
        return { baseUrl: inject(address), port };
      }),
    );
    TestBed.inject(LEDGER);
    expect(await firstValueFrom(ledger.ledgerEnd())).toBe(42);
    expect(calls).toBe(1);
  });

  it('provides another ledger to a route', () => {
    const ledger = ledgerOf(provided(service()));
    const route = createEnvironmentInjector([provided(service())], TestBed.inject(EnvironmentInjector));
    const ofRoute = runInInjectionContext(route.get(Injector), injectLedger);
    expect(ofRoute).not.toBe(ledger);
    expect(route.get(LEDGER)).toBe(ofRoute);
  });

  it('gives a ledger its own features alone: none of the injector above, none of a ledger that it replaces', async () => {
    const asked = service();
    const byHttpClient = () => provideLedger({ baseUrl }, withAngularHttp(), withServerFeeds());
    TestBed.configureTestingModule({
      providers: [server, provideHttpClient(), provideHttpClientTesting(), byHttpClient()],
    });
    const above = TestBed.inject(EnvironmentInjector);
    const fetch = (): Promise<Response> => Promise.resolve(new Response('{"offset":42}'));
    const below = createEnvironmentInjector([provideLedger({ baseUrl, fetch })], above);
    const replacing = createEnvironmentInjector([byHttpClient(), provided(asked)], above);

    const end = firstValueFrom(below.get(LEDGER).ledgerEnd());
    TestBed.inject(HttpTestingController).verify();
    expect(await end).toBe(42);
    observe(replacing.get(LEDGER).updates(all)).subscription.unsubscribe();
    expect(asked.asked).toEqual([]);
  });

  it('refuses options that make no sense when the ledger is injected', () => {
    expect(() => ledgerOf(provideLedger({ baseUrl: 'nowhere' }))).toThrow(TypeError);
  });

  it('reads as a ledger does without it', async () => {
    const ledger = ledgerOf(provided(service()));
    const offsets$ = ledger.updates(all).pipe(
      map(({ offset }) => offset),
      take(3),
      toArray(),
    );
    expect(await firstValueFrom(offsets$)).toEqual([1, 2, 3]);
  });

  it('asks for nothing more once the subscriber has enough, in the middle of what comes at once', () => {
    const asked = service();
    const { values, completed } = observe(ledgerOf(provided(asked)).updates(all).pipe(take(1)));
    expect(values).toHaveLength(1);
    expect(completed).toBe(true);
    expect(asked.asked.filter(({ query }) => 'stream_idle_timeout_ms' in query)).toEqual([]);
    expect(asked.open).toBe(0);
  });

  it('hands on errors, and the TypeError of options at once', () => {
    const ledger = ledgerOf(provided(scripted(() => of({ status: 400, headers: {}, text: 'no' }))));
    expect(observe(ledger.updates(all)).error).toMatchObject({ _tag: 'ApiError', status: 400 });
    expect(() => ledger.updates(all, { maxPageSize: 0 })).toThrow(TypeError);
    expect(() => ledger.process(all, () => 1, { maxPageSize: 0 })).toThrow(TypeError);
  });

  it('has handlers do their work, whatever they return', async () => {
    const seen: string[] = [];
    const ledger = ledgerOf(provided(service()));
    const read = (handler: (offset: number) => unknown): Promise<unknown> =>
      lastValueFrom(ledger.process({ ...all, endInclusive: 3 }, ({ offset }) => handler(offset)));
    await read((offset) => seen.push(`plain ${offset}`));
    await read((offset) => of(offset).pipe(map((value) => seen.push(`observable ${value}`))));
    await read(async (offset) => {
      await Promise.resolve();
      seen.push(`promise ${offset}`);
    });
    expect(seen).toEqual(['plain', 'observable', 'promise'].flatMap((kind) => upTo(3).map((n) => `${kind} ${n}`)));
  });

  it('has batches handled, too', async () => {
    const sizes: number[] = [];
    const ledger = ledgerOf(provided(service()));
    const how = { batch: { size: 3, withinMs: 1_000 } };
    await lastValueFrom(ledger.process({ ...all, endInclusive: 3 }, (updates) => sizes.push(updates.length), how));
    expect(sizes).toEqual([3]);
  });

  it('tells what happens', () => {
    const ledger = ledgerOf(provided(service()));
    const { values } = observe(ledger.diagnostics$.pipe(map(({ _tag }) => _tag)));
    observe(ledger.updates(all).pipe(take(1)));
    expect(values).toEqual(expect.arrayContaining(['FeedStarted', 'PageReceived', 'FeedEnded']));
  });
});

describe('a subscription that belongs to an injector', () => {
  const scope = (): EnvironmentInjector => createEnvironmentInjector([], TestBed.inject(EnvironmentInjector));

  it('aborts its request when the injector is destroyed, with takeUntilDestroyed', () => {
    const asked = service();
    const ledger = ledgerOf(provided(asked));
    const injector = scope();
    const { values, completed } = observe(ledger.updates(all).pipe(takeUntilDestroyed(injector.get(DestroyRef))));
    expect({ read: values.length, open: asked.open }).toEqual({ read: 3, open: 1 });
    injector.destroy();
    expect({ open: asked.open, aborted: asked.aborted.length, completed }).toMatchObject({ open: 0, aborted: 1 });
  });

  it('is a signal with toSignal, and ends with it', () => {
    const asked = service();
    const ledger = ledgerOf(provided(asked));
    const injector = scope();
    const latest = toSignal(ledger.updates(all), { injector: injector.get(Injector) });
    expect(latest()).toMatchObject({ _tag: 'Transaction', offset: 3 });
    injector.destroy();
    expect(asked.aborted).toHaveLength(1);
  });
});

describe('a ledger whose injector is destroyed', () => {
  it('reads no more, also where nobody unsubscribes, and takes what was read for the whole nowhere', () => {
    const asked = service();
    const ledger = ledgerOf(provided(asked));
    const seen = [observe<unknown>(ledger.updates(all)), observe<unknown>(ledger.process(all, () => 1))];
    expect(asked.open).toBe(2);
    TestBed.resetTestingModule();
    expect({ open: asked.open, aborted: asked.aborted.length }).toEqual({ open: 0, aborted: 2 });
    expect(seen).toMatchObject(seen.map(() => ({ completed: false, error: undefined })));
    const late = observe(ledger.updates(all));
    expect(late.error).toMatchObject({ code: -205 });
    expect(asked.open).toBe(0);
  });

  it('lets what answers once answer, lest a submission be cut off', () => {
    const answers = new Subject<HttpResponse>();
    const { port } = scripted(() => answers);
    const ledger = ledgerOf(provideLedger({ baseUrl, port }));
    const { values } = observe(ledger.ledgerEnd());
    TestBed.resetTestingModule();
    answers.next(ok({ offset: 42 }));
    expect(values).toEqual([42]);
  });

  it('ends none of another injector', () => {
    const asked = service();
    const ledger = ledgerOf(provided(asked));
    const route = createEnvironmentInjector([provided(service())], TestBed.inject(EnvironmentInjector));
    route.get(LEDGER);
    const { subscription } = observe(ledger.updates(all));
    route.destroy();
    expect(asked.open).toBe(1);
    subscription.unsubscribe();
  });
});

describe('on a server that renders pages', () => {
  it('no feed is read, and none ends', () => {
    const asked = service();
    const ledger = ledgerOf(server, provided(asked));
    const feeds = [ledger.updates(all), ledger.updates({ ...all, endInclusive: 3 }), ledger.process(all, () => 1)];
    const seen = feeds.map((feed$) => observe<unknown>(feed$));
    expect(seen).toMatchObject(feeds.map(() => ({ values: [], completed: false, error: undefined })));
    expect(asked.asked).toEqual([]);
  });

  it('options that make no sense are refused all the same', () => {
    const ledger = ledgerOf(server, provided(service()));
    expect(() => ledger.updates(all, { maxPageSize: 0 })).toThrow(TypeError);
  });

  it('what answers once answers', () => {
    const ledger = ledgerOf(server, provided(service()));
    expect(observe(ledger.ledgerEnd())).toMatchObject({ values: [3], completed: true });
  });

  it('feeds are read where that was asked for', () => {
    const ledger = ledgerOf(server, provided(service(), withServerFeeds()));
    const { values, subscription } = observe(ledger.updates(all));
    expect(values).toHaveLength(3);
    subscription.unsubscribe();
  });
});
