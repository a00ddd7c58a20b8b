import '@angular/compiler';
import type { HttpInterceptorFn, HttpRequest } from '@angular/common/http';
import { HttpErrorResponse, HttpHeaders, HttpResponse } from '@angular/common/http';
import { provideHttpClient, withFetch, withInterceptors } from '@angular/common/http';
import { HttpTestingController, provideHttpClientTesting } from '@angular/common/http/testing';
import { TestBed } from '@angular/core/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { concatMap, defer, filter, firstValueFrom, from, map, of, race, take, throwError, timer, toArray } from 'rxjs';
import { provideLedger, withAngularHttp } from '../../src/angular/index.js';
import { httpClientPort } from '../../src/angular/httpClientPort.js';
import type { HttpPort } from '../../src/http/HttpPort.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { LedgerOptions } from '../../src/ledger/LedgerOptions.js';
import { observe, offsets as offsetsOf } from '../helpers/observe.js';
import { secretsIn } from '../suites/security/secretsIn.js';
import { all, ledgerOf } from './support.js';
import { ApplicationRef, PendingTasks } from '@angular/core';
import type { UpdatesOptions } from '../../src/feed/UpdatesOptions.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { httpServer, sandboxes } from '../helpers/localServers.js';
import { until } from '../helpers/time.js';

const baseUrl = 'http://ledger.example/api';

interface Client {
  readonly ledger: Ledger;
  readonly http: HttpTestingController;
  /** The requests that an interceptor has received. */
  readonly intercepted: HttpRequest<unknown>[];
}

function client(options: Partial<LedgerOptions> = {}, ...others: readonly HttpInterceptorFn[]): Client {
  const intercepted: HttpRequest<unknown>[] = [];
  const recording: HttpInterceptorFn = (request, next) => {
    intercepted.push(request);
    return next(request);
  };
  const ledger = ledgerOf(
    provideHttpClient(withInterceptors([recording, ...others])),
    provideHttpClientTesting(),
    provideLedger({ baseUrl, ...options }, withAngularHttp()),
  );
  return { ledger, http: TestBed.inject(HttpTestingController), intercepted };
}

/** The port without a ledger. */
function portOnly(...interceptors: HttpInterceptorFn[]): { port: HttpPort; http: HttpTestingController } {
  TestBed.configureTestingModule({
    providers: [provideHttpClient(withInterceptors(interceptors)), provideHttpClientTesting()],
  });
  return { port: TestBed.runInInjectionContext(httpClientPort), http: TestBed.inject(HttpTestingController) };
}

/** An interceptor that fails. */
const failing =
  (error: unknown): HttpInterceptorFn =>
  () =>
    throwError(() => error);

/** What is seen of a request through the port alone. */
const seenBy = (port: HttpPort) => observe(port({ method: 'GET', url: `${baseUrl}/v2/state/ledger-end`, headers: {} }));

/** Repeats an expectation for a few microtasks. */
const eventually = async <A>(expectation: () => A): Promise<A> => {
  for (let turn = 0; turn < 50; turn++) {
    try {
      return expectation();
    } catch {
      await Promise.resolve();
    }
  }
  return expectation();
};

const end = (http: HttpTestingController) => http.expectOne(`${baseUrl}/v2/state/ledger-end`);
const updates = (http: HttpTestingController) =>
  eventually(() => http.expectOne(({ url }) => url.startsWith(`${baseUrl}/v2/updates/flats`)));

describe('a ledger over HttpClient', () => {
  it('sends the same requests as without it, and puts no answer into the transfer cache', async () => {
    const { ledger, http, intercepted } = client({ token: 'a-token', headers: { 'X-Tenant': 'seven' } });
    const seen = observe(ledger.updates(all));
    const first = end(http);
    expect(first.request).toMatchObject({ method: 'GET', body: null });
    first.flush('{"offset":0}');
    const { request } = await updates(http);
    expect(request.method).toBe('POST');
    expect(JSON.parse(String(request.body))).toMatchObject({ beginExclusive: 0 });
    expect(request.headers.get('content-type')).toBe('application/json');
    const common = { responseType: 'text', transferCache: false };
    expect(intercepted).toMatchObject([common, common]);
    const sent = intercepted.map(({ headers }) => ['authorization', 'x-tenant'].map((name) => headers.get(name)));
    expect(sent).toEqual(Array(2).fill(['Bearer a-token', 'seven']));
    seen.subscription.unsubscribe();
  });

  it('fails with a ConnectionError without secrets where there is no answer, and where an interceptor fails', () => {
    const { ledger, http } = client({ token: 'a-secret-token' });
    const seen = observe(ledger.ledgerEnd());
    end(http).error(new Event('error') as ProgressEvent);
    TestBed.resetTestingModule();
    const { error } = observe(client({}, failing(new Error('a-secret-token'))).ledger.ledgerEnd());
    expect([seen.error, error]).toMatchObject([{ _tag: 'ConnectionError' }, { _tag: 'ConnectionError' }]);
    expect(secretsIn([seen.error, error], ['a-secret-token', '://'])).toEqual([]);
  });

  it('uses the port of the options instead', async () => {
    const { ledger, http } = client({ port: () => of({ status: 200, headers: {}, text: '{"offset":42}' }) });
    expect(await firstValueFrom(ledger.ledgerEnd())).toBe(42);
    http.verify();
  });
});

describe('an answer of HttpClient', () => {
  it('is passed on unchanged, whatever its status and text', async () => {
    const statuses = fc.integer({ min: 200, max: 599 });
    const { port, http } = portOnly();
    await fc.assert(
      fc.asyncProperty(statuses, fc.string(), fc.constantFrom('GET', 'POST'), (status, text, method) => {
        const url = `${baseUrl}/v2/state/ledger-end`;
        const seen = observe(port({ method, url, headers: {}, ...(method === 'POST' && { body: '{}' }) }));
        const headers = new HttpHeaders({ 'Retry-After': '3', 'Content-Type': 'text/plain' });
        http.expectOne(url).flush(text, { status, statusText: 'whatever', headers });
        expect(seen.error).toBeUndefined();
        expect(seen.completed).toBe(true);
        expect(seen.values).toEqual([{ status, headers: { 'retry-after': '3', 'content-type': 'text/plain' }, text }]);
        return Promise.resolve();
      }),
    );
  });

  it('is an error if it was cut off, although it has a status', () => {
    const broken = new HttpErrorResponse({ status: 200, error: new Error('broken off') });
    const seen = seenBy(portOnly(failing(broken)).port);
    expect(seen.values).toEqual([]);
    expect(seen.error).toBe(broken);
  });
});

describe('an answer beyond the limit of Angular', () => {
  // Angular has a limit on a server, from version 22 on
  const message = 'NG02825: Fetch response body exceeded the configured buffer limit (5000 bytes).';
  const tooLarge = (code = -2825, text = message): HttpErrorResponse =>
    new HttpErrorResponse({ error: Object.assign(new Error(text), { code }) });

  it.each([
    ['22.0', tooLarge(2825), 5_000],
    ['22.2', tooLarge(), 5_000],
    ['22.2, built for production', tooLarge(-2825, 'NG02825'), 2 ** 20],
  ])('fails with an ResponseTooLargeError in Angular %s', (_, error, maxBytes) => {
    const seen = seenBy(portOnly(failing(error)).port);
    expect(seen.error).toMatchObject({ _tag: 'ResponseTooLargeError', path: '/api/v2/state/ledger-end', maxBytes });
  });

  it('makes a feed request smaller pages', async () => {
    const limits: number[] = [];
    const limited: HttpInterceptorFn = ({ url }) =>
      defer(() => {
        if (!url.includes('/v2/updates')) return of(new HttpResponse({ status: 200, body: '{"offset":1000}' }));
        const limit = Number(new URL(url).searchParams.get('limit'));
        limits.push(limit);
        return limit > 50 ? throwError(() => tooLarge()) : of(new HttpResponse({ status: 200, body: '[]' }));
      });
    const { ledger } = client({}, limited);
    const learned$ = ledger.diagnostics$.pipe(filter((event) => event._tag === 'PageLimitLearned'));
    const learned = firstValueFrom(learned$.pipe(take(2), toArray()));
    const { subscription } = observe(ledger.updates({ ...all, endInclusive: 1_000 }));
    expect(await learned).toMatchObject([{ pageLimit: 100 }, { pageLimit: 50 }]);
    subscription.unsubscribe();
    expect(limits.slice(0, 2)).toEqual([200, 100]);
  });
});

const sandbox = sandboxes();

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
  firstValueFrom(ledger.updates({ ...all, endInclusive: ledgerEnd }, options).pipe(toArray(), map(offsetsOf)));

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
    const read = await offsets(ledger, service, { maxPageSize: 50, parallelRanges: 1, retry: { baseDelayMs: 1 } });
    expect(read).toEqual(await expected(service));
    expect(retries.sort()).toEqual(['ApiError', 'ConnectionError', 'ConnectionError']);
  });

  it('aborts its request when it is unsubscribed', async () => {
    const service = await sandbox();
    const ledger = overFetch(service.url);
    const { subscription } = observe(ledger.updates(all));
    const arrived = (): boolean => service.requests.some(({ query }) => 'stream_idle_timeout_ms' in query);
    while (!arrived()) await new Promise(setImmediate);
    subscription.unsubscribe();
    while (service.requests.at(-1)?.aborted !== true) await new Promise(setImmediate);
    expect(service.requests.filter(({ aborted }) => aborted)).toHaveLength(1);
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
});
