import '@angular/compiler';
import { provideHttpClient, withFetch, withInterceptors, type HttpInterceptorFn } from '@angular/common/http';
import { ApplicationRef, PendingTasks } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { concatMap, filter, firstValueFrom, from, lastValueFrom, map, race, tap, timer, toArray } from 'rxjs';
import { provideLedger, withAngularHttp } from '../../src/angular/index.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import type { UpdatesOptions } from '../../src/feed/UpdatesOptions.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { processFeed, updatesFeed } from '../../src/process/index.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { observe } from '../helpers/observe.js';
import { httpServer, sandboxes } from '../helpers/localServers.js';
import { until } from '../helpers/time.js';
import { all, ledgerOf } from './support.js';

const sandbox = sandboxes();
afterEach(() => {
  TestBed.resetTestingModule();
});

const fastRetry = { retry: { baseDelayMs: 1 } };

function overFetch(baseUrl: string, ...interceptors: readonly HttpInterceptorFn[]): Ledger {
  return ledgerOf(
    provideHttpClient(withFetch(), withInterceptors([...interceptors])),
    provideLedger({ baseUrl }, withAngularHttp()),
  );
}

/** The offsets of all updates of a sandbox. */
const offsets = (
  ledger: Ledger,
  { ledgerEnd }: Sandbox,
  options: UpdatesOptions & { readonly onUndecodable?: 'fail' } = {},
): Promise<readonly number[]> =>
  firstValueFrom(
    ledger.updates({ ...all, endInclusive: ledgerEnd }, options).pipe(
      map(({ offset }) => offset),
      toArray(),
    ),
  );

/** The offsets that a ledger without Angular reads. */
const expected = (service: Sandbox): Promise<readonly number[]> =>
  offsets(createLedger({ baseUrl: service.url }), service);

describe('a feed through HttpClient with fetch', () => {
  it('emits all updates in order, and each request passes the interceptors', async () => {
    const service = await sandbox();
    service.generate(500);
    const paths: string[] = [];
    const recording: HttpInterceptorFn = (request, next) => {
      paths.push(new URL(request.url).pathname);
      return next(request.clone({ setHeaders: { authorization: 'Bearer from-the-interceptor' } }));
    };
    const ledger = overFetch(service.url, recording);
    const read = await offsets(ledger, service, { maxPageSize: 100 });
    expect(paths).toEqual(service.requests.map(({ path }) => path));
    expect(service.requests.map(({ authorized }) => authorized)).toEqual(paths.map(() => true));
    expect(read).toEqual(await expected(service));
    expect(read.length).toBeGreaterThan(300);
  });

  it('continues after failures', async () => {
    const service = await sandbox();
    service.generate(300);
    service.fault({ kind: 'status', status: 503 }, { path: /updates/, after: 1 });
    service.fault({ kind: 'reset' }, { path: /updates/, after: 2 });
    service.fault({ kind: 'truncate', bytes: 10 }, { path: /updates/, after: 3 });
    const ledger = overFetch(service.url);
    const retries: string[] = [];
    ledger.diagnostics$.subscribe((event) => {
      if (event._tag === 'RetryScheduled') retries.push(event.cause._tag);
    });
    const read = await offsets(ledger, service, { maxPageSize: 50, parallelRanges: 1, ...fastRetry });
    expect(read).toEqual(await expected(service));
    expect(retries.sort()).toEqual(['ApiError', 'ConnectionError', 'ConnectionError']);
  });

  it('aborts its request when it is unsubscribed', async () => {
    const service = await sandbox();
    const ledger = overFetch(service.url);
    const pollSent = firstValueFrom(
      ledger.diagnostics$.pipe(filter((event) => event._tag === 'PollSent' && event.idleTimeoutMs !== undefined)),
    );
    const { subscription } = observe(ledger.updates(all));
    await pollSent;
    const arrived = (): boolean => service.requests.some(({ query }) => 'stream_idle_timeout_ms' in query);
    while (!arrived()) await new Promise(setImmediate);
    subscription.unsubscribe();
    while (service.requests.at(-1)?.aborted !== true) await new Promise(setImmediate);
    expect(service.requests.map(({ aborted }) => aborted)).toEqual([
      ...service.requests.slice(1).map(() => false),
      true,
    ]);
  });

  it('lets the application become stable after each poll', async () => {
    const service = await sandbox();
    const ledger = overFetch(service.url);
    const app = TestBed.inject(ApplicationRef);
    const { subscription } = observe(ledger.updates(all, { idleTimeoutMs: 20 }));
    for (let time = 0; time < 3; time++) {
      await firstValueFrom(app.isStable.pipe(filter((isStable) => !isStable)));
      await app.whenStable();
    }
    subscription.unsubscribe();
  });

  it('lets an application become stable with several feeds whose polls overlap', async () => {
    const service = await sandbox({ profile: '3.4' });
    const ledger = overFetch(service.url);
    const app = TestBed.inject(ApplicationRef);
    const endStartup = TestBed.inject(PendingTasks).add();
    const feed = () => ledger.updates(all, { idleTimeoutMs: 600 });
    const polls = () => service.requests.filter(({ query }) => 'stream_idle_timeout_ms' in query).length;
    const { subscription } = observe(feed());
    await until(() => polls() > 0);
    subscription.add(timer(250).pipe(concatMap(feed)).subscribe());
    await until(() => polls() > 2);
    endStartup();
    const stable$ = from(app.whenStable()).pipe(map(() => 'stable'));
    expect(await firstValueFrom(race(stable$, timer(20_000)))).toBe('stable');
    subscription.unsubscribe();
  });

  it('follows no redirect, so that its request is sent to no other server', async () => {
    const redirected: string[] = [];
    const otherServer = await httpServer((request, response) => {
      redirected.push(request.url ?? '');
      response.end('{"offset":1}');
    });
    const service = await httpServer((_, response) => {
      response.writeHead(307, { location: `${otherServer.url}/elsewhere` }).end();
    });
    const { url } = service;
    const seen = await firstValueFrom(overFetch(url).ledgerEnd()).catch((error: unknown) => error);
    expect(seen).toMatchObject({ _tag: 'ApiError', status: 307 });
    expect(redirected).toEqual([]);
    await Promise.all([service.close(), otherServer.close()]);
  });

  it('processes updates with a handler that uses the ledger', async () => {
    const service = await sandbox();
    service.generate(20);
    const ledger = overFetch(service.url);
    const ends: number[] = [];
    await lastValueFrom(
      processFeed(updatesFeed(ledger, { ...all, endInclusive: service.ledgerEnd }), () =>
        ledger.ledgerEnd().pipe(tap((offset) => ends.push(offset))),
      ),
    );
    expect(new Set(ends)).toEqual(new Set([service.ledgerEnd]));
  });
});
