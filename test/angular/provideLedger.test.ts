import '@angular/compiler';
import { provideHttpClient } from '@angular/common/http';
import { HttpTestingController, provideHttpClientTesting } from '@angular/common/http/testing';
import { DestroyRef, inject, InjectionToken, Injector, PLATFORM_ID, runInInjectionContext } from '@angular/core';
import type { EnvironmentProviders } from '@angular/core';
import { takeUntilDestroyed } from '@angular/core/rxjs-interop';
import { TestBed } from '@angular/core/testing';
import { describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom, lastValueFrom, map, NEVER, of, Subject, take } from 'rxjs';
import { injectLedger, LEDGER, provideLedger, withAngularHttp, withServerFeeds } from '../../src/angular/index.js';
import type { LedgerFeature } from '../../src/angular/index.js';
import type { HttpResponse } from '../../src/http/HttpPort.js';
import { processFeed, updatesFeed, type HandlerResult } from '../../src/process/index.js';
import { observe } from '../helpers/observe.js';
import { scriptedService, type ScriptedService } from '../helpers/scripted.js';
import { fill, upTo } from '../helpers/world.js';
import { VirtualLedger } from '../helpers/virtualLedger.js';
import { ok } from '../helpers/wire.js';
import { all, childInjector, ledgerOf } from './support.js';

const baseUrl = 'http://ledger.example';
const server = { provide: PLATFORM_ID, useValue: 'server' };

/** A service with three updates that answers synchronously, and never answers a poll. */
function service(): ScriptedService {
  const ledger = new VirtualLedger();
  fill(ledger, 1, 2, 3);
  return scriptedService((request) =>
    'stream_idle_timeout_ms' in request.query ? NEVER : ledger.reply(request).pipe(take(1)),
  );
}

const provided = ({ port }: ScriptedService, ...features: readonly LedgerFeature[]): EnvironmentProviders =>
  provideLedger({ baseUrl, port }, ...features);

describe('provideLedger', () => {
  it('creates one ledger, which sends nothing by itself', () => {
    const participant = service();
    const ledger = ledgerOf(provided(participant));
    expect(TestBed.inject(LEDGER)).toBe(ledger);
    expect(participant.requests).toEqual([]);
  });

  it('calls a function of options once, in an injection context', async () => {
    const { port } = scriptedService(() => of(ok({ offset: 42 })));
    const address = new InjectionToken<string>('address');
    const options = jest.fn(() => ({ baseUrl: inject(address), port }));
    const ledger = ledgerOf({ provide: address, useValue: baseUrl }, provideLedger(options));
    TestBed.inject(LEDGER);
    expect(await firstValueFrom(ledger.ledgerEnd())).toBe(42);
    expect(options).toHaveBeenCalledTimes(1);
  });

  it('provides another ledger to a route', () => {
    const ledger = ledgerOf(provided(service()));
    const route = childInjector(provided(service()));
    const ofRoute = runInInjectionContext(route.get(Injector), injectLedger);
    expect(ofRoute).not.toBe(ledger);
    expect(route.get(LEDGER)).toBe(ofRoute);
  });

  it('gives a ledger only its own features, not those of a parent injector or of a replaced ledger', async () => {
    const participant = service();
    const overHttpClient = () => provideLedger({ baseUrl }, withAngularHttp(), withServerFeeds());
    TestBed.configureTestingModule({
      providers: [server, provideHttpClient(), provideHttpClientTesting(), overHttpClient()],
    });
    const fetch = (): Promise<Response> => Promise.resolve(new Response('{"offset":42}'));
    const child = childInjector(provideLedger({ baseUrl, fetch }));
    const replacing = childInjector(overHttpClient(), provided(participant));
    const end = firstValueFrom(child.get(LEDGER).ledgerEnd());
    TestBed.inject(HttpTestingController).verify();
    expect(await end).toBe(42);
    observe(replacing.get(LEDGER).updates(all)).subscription.unsubscribe();
    expect(participant.requests).toEqual([]);
  });

  it('throws for invalid options when the ledger is injected', () => {
    expect(() => ledgerOf(provideLedger({ baseUrl: 'nowhere' }))).toThrow(TypeError);
  });

  it('sends no more requests when the subscriber unsubscribes during a synchronous answer', () => {
    const participant = service();
    const { values, completed } = observe(ledgerOf(provided(participant)).updates(all).pipe(take(1)));
    expect(values).toHaveLength(1);
    expect(completed).toBe(true);
    expect(participant.requests.filter(({ query }) => 'stream_idle_timeout_ms' in query)).toEqual([]);
    expect(participant.open).toBe(0);
  });

  it('passes on errors, and throws for invalid options at once', () => {
    const ledger = ledgerOf(provided(scriptedService(() => of({ status: 400, headers: {}, text: 'no' }))));
    expect(observe(ledger.updates(all)).error).toMatchObject({ _tag: 'ApiError', status: 400 });
    expect(() => ledger.updates(all, { maxPageSize: 0 })).toThrow(TypeError);
    expect(() => updatesFeed(ledger, all, { maxPageSize: 0 })).toThrow(TypeError);
  });

  it('processes updates with handlers, whatever they return', async () => {
    const seen: string[] = [];
    const ledger = ledgerOf(provided(service()));
    const read = (handler: (offset: number) => HandlerResult): Promise<unknown> =>
      lastValueFrom(processFeed(updatesFeed(ledger, { ...all, endInclusive: 3 }), ({ offset }) => handler(offset)));
    await read((offset) => void seen.push(`plain ${offset}`));
    await read((offset) => of(offset).pipe(map((value) => seen.push(`observable ${value}`))));
    await read(async (offset) => {
      await Promise.resolve();
      seen.push(`promise ${offset}`);
    });
    expect(seen).toEqual(['plain', 'observable', 'promise'].flatMap((kind) => upTo(3).map((n) => `${kind} ${n}`)));
  });

  it('reports diagnostics', () => {
    const ledger = ledgerOf(provided(service()));
    const { values } = observe(ledger.diagnostics$.pipe(map(({ _tag }) => _tag)));
    observe(ledger.updates(all).pipe(take(1)));
    expect(values).toEqual(expect.arrayContaining(['FeedStarted', 'PageReceived', 'FeedEnded']));
  });
});

describe('a subscription of an injector', () => {
  it('aborts its request when the injector is destroyed, with takeUntilDestroyed', () => {
    const participant = service();
    const ledger = ledgerOf(provided(participant));
    const injector = childInjector();
    const { values } = observe(ledger.updates(all).pipe(takeUntilDestroyed(injector.get(DestroyRef))));
    expect([values.length, participant.open]).toEqual([3, 1]);
    injector.destroy();
    expect([participant.open, participant.aborted.length]).toEqual([0, 1]);
  });
});

describe('a ledger whose injector is destroyed', () => {
  it('unsubscribes its feeds, which neither complete nor fail', () => {
    const participant = service();
    const ledger = ledgerOf(provided(participant));
    const feeds = [ledger.updates(all), processFeed(updatesFeed(ledger, all), () => undefined)];
    const seen = feeds.map((feed$) => observe<unknown>(feed$));
    expect(participant.open).toBe(2);
    TestBed.resetTestingModule();
    expect([participant.open, participant.aborted.length]).toEqual([0, 2]);
    expect(seen).toMatchObject(seen.map(() => ({ completed: false, error: undefined })));
    const late = observe(ledger.updates(all));
    expect(late.error).toMatchObject({ code: -205 });
    expect(participant.open).toBe(0);
  });

  it('does not abort single requests, such as a submission', () => {
    const answers = new Subject<HttpResponse>();
    const { port } = scriptedService(() => answers);
    const ledger = ledgerOf(provideLedger({ baseUrl, port }));
    const { values } = observe(ledger.ledgerEnd());
    TestBed.resetTestingModule();
    answers.next(ok({ offset: 42 }));
    expect(values).toEqual([42]);
  });

  it('does not end the feeds of another injector', () => {
    const participant = service();
    const ledger = ledgerOf(provided(participant));
    const route = childInjector(provided(service()));
    route.get(LEDGER);
    const { subscription } = observe(ledger.updates(all));
    route.destroy();
    expect(participant.open).toBe(1);
    subscription.unsubscribe();
  });
});

describe('on a server that renders pages', () => {
  it('feeds send no request and do not end', () => {
    const participant = service();
    const ledger = ledgerOf(server, provided(participant));
    const feeds = [
      ledger.updates(all),
      ledger.updates({ ...all, endInclusive: 3 }),
      processFeed(updatesFeed(ledger, all), () => undefined),
    ];
    const seen = feeds.map((feed$) => observe<unknown>(feed$));
    expect(seen).toMatchObject(feeds.map(() => ({ values: [], completed: false, error: undefined })));
    expect(participant.requests).toEqual([]);
  });

  it('single requests are answered', () => {
    const ledger = ledgerOf(server, provided(service()));
    expect(observe(ledger.ledgerEnd())).toMatchObject({ values: [3], completed: true });
  });

  it('feeds emit with withServerFeeds', () => {
    const ledger = ledgerOf(server, provided(service(), withServerFeeds()));
    const { values, subscription } = observe(ledger.updates(all));
    expect(values).toHaveLength(3);
    subscription.unsubscribe();
  });
});
