import '@angular/compiler';
import { provideHttpClient, withFetch, withInterceptors, type HttpInterceptorFn } from '@angular/common/http';
import { ApplicationRef, PendingTasks } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { concatMap, filter, firstValueFrom, lastValueFrom, map, tap, timer, toArray } from 'rxjs';
import { provideLedger, withAngularHttp } from '../../src/angular/index.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import type { UpdatesOptions } from '../../src/feed/UpdatesOptions.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { httpServer } from '../helpers/httpServer.js';
import { observe } from '../helpers/observe.js';
import { sandboxes } from '../helpers/sandboxes.js';
import { until } from '../helpers/servers.js';
import { all, ledgerOf } from './support.js';

const sandbox = sandboxes();
afterEach(() => {
  TestBed.resetTestingModule();
});

const quick = { retry: { baseDelayMs: 1 } };

function overFetch(baseUrl: string, ...interceptors: readonly HttpInterceptorFn[]): Ledger {
  return ledgerOf(
    provideHttpClient(withFetch(), withInterceptors([...interceptors])),
    provideLedger({ baseUrl }, withAngularHttp()),
  );
}

/** The offsets of all that there is. */
const offsets = (
  ledger: Ledger,
  { ledgerEnd }: Sandbox,
  options: UpdatesOptions & { readonly onInvalid?: 'fail' } = {},
): Promise<readonly number[]> =>
  firstValueFrom(
    ledger.updates({ ...all, endInclusive: ledgerEnd }, options).pipe(
      map(({ offset }) => offset),
      toArray(),
    ),
  );

/** The same, read without Angular. */
const expected = (service: Sandbox): Promise<readonly number[]> =>
  offsets(createLedger({ baseUrl: service.url }), service);

describe('a feed through HttpClient with fetch', () => {
  it('reads all there is, in order, and each request passes the interceptors', async () => {
    const service = await sandbox();
    service.generate(500);
    const paths: string[] = [];
    const noting: HttpInterceptorFn = (request, next) => {
      paths.push(new URL(request.url).pathname);
      return next(request.clone({ setHeaders: { authorization: 'Bearer from-the-interceptor' } }));
    };
    const ledger = overFetch(service.url, noting);
    const read = await offsets(ledger, service, { maxPageSize: 100 });
    expect(paths).toEqual(service.requests.map(({ path }) => path));
    expect(service.requests.map(({ authorized }) => authorized)).toEqual(paths.map(() => true));
    expect(read).toEqual(await expected(service));
    expect(read.length).toBeGreaterThan(300);
  });

  it('reads as much with parallel ranges', async () => {
    const service = await sandbox();
    service.generate(500);
    const read = await offsets(overFetch(service.url), service, { maxPageSize: 50, parallelRanges: 4 });
    expect(read).toEqual(await expected(service));
  });

  it('goes on after what goes wrong', async () => {
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
    const read = await offsets(ledger, service, { maxPageSize: 50, parallelRanges: 1, ...quick });
    expect(read).toEqual(await expected(service));
    expect(retries.sort()).toEqual(['ApiError', 'ConnectionError', 'ConnectionError']);
  });

  it('aborts its request when it is unsubscribed', async () => {
    const service = await sandbox();
    const ledger = overFetch(service.url);
    const polling = firstValueFrom(
      ledger.diagnostics$.pipe(filter((event) => event._tag === 'PollSent' && event.idleTimeoutMs !== undefined)),
    );
    const { subscription } = observe(ledger.updates(all));
    await polling;
    const arrived = (): boolean => service.requests.some(({ query }) => 'stream_idle_timeout_ms' in query);
    while (!arrived()) await new Promise(setImmediate);
    subscription.unsubscribe();
    while (service.requests.at(-1)?.aborted !== true) await new Promise(setImmediate);
    expect(service.requests.map(({ aborted }) => aborted)).toEqual([
      ...service.requests.slice(1).map(() => false),
      true,
    ]);
  });

  it('lets the application be stable after each poll, again and again', async () => {
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

  it('lets an application start that has several feeds, whose polls come by turns', async () => {
    const service = await sandbox({ profile: '3.4' });
    const ledger = overFetch(service.url);
    const app = TestBed.inject(ApplicationRef);
    const started = TestBed.inject(PendingTasks).add();
    const feed = () => ledger.updates(all, { idleTimeoutMs: 1_500 });
    const polls = () => service.requests.filter(({ query }) => 'stream_idle_timeout_ms' in query).length;
    const { subscription } = observe(feed());
    await until(() => polls() > 0);
    subscription.add(timer(700).pipe(concatMap(feed)).subscribe());
    await until(() => polls() > 2);
    started();
    const stable = app.whenStable().then(() => 'stable');
    expect(await Promise.race([stable, firstValueFrom(timer(20_000))])).toBe('stable');
    subscription.unsubscribe();
  });

  it('follows no redirect: what is meant for the service is sent nowhere else', async () => {
    const asked: string[] = [];
    const elsewhere = await httpServer((request, response) => {
      asked.push(request.url ?? '');
      response.end('{"offset":1}');
    });
    const service = await httpServer((_, response) => {
      response.writeHead(307, { location: `${elsewhere.url}/elsewhere` }).end();
    });
    const { url } = service;
    const seen = await firstValueFrom(overFetch(url).ledgerEnd()).catch((error: unknown) => error);
    expect(seen).toMatchObject({ _tag: 'ApiError', status: 307 });
    expect(asked).toEqual([]);
    await Promise.all([service.close(), elsewhere.close()]);
  });

  it('has work done by a handler that itself uses the ledger', async () => {
    const service = await sandbox();
    service.generate(20);
    const ledger = overFetch(service.url);
    const ends: number[] = [];
    await lastValueFrom(
      ledger.process({ ...all, endInclusive: service.ledgerEnd }, () =>
        ledger.ledgerEnd().pipe(tap((offset) => ends.push(offset))),
      ),
    );
    expect(new Set(ends)).toEqual(new Set([service.ledgerEnd]));
  });
});
