import '@angular/compiler';
import {
  HttpErrorResponse,
  HttpHeaders,
  HttpResponse,
  provideHttpClient,
  withInterceptors,
  type HttpInterceptorFn,
  type HttpRequest,
} from '@angular/common/http';
import { HttpTestingController, provideHttpClientTesting } from '@angular/common/http/testing';
import { TestBed } from '@angular/core/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { defer, filter, firstValueFrom, of, take, throwError, toArray } from 'rxjs';
import { provideLedger, withAngularHttp } from '../../src/angular/index.js';
import { httpClientPort } from '../../src/angular/httpClientPort.js';
import type { HttpPort } from '../../src/http/HttpPort.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import type { LedgerOptions } from '../../src/ledger/createLedger.js';
import { observe } from '../helpers/observe.js';
import { secretsIn } from '../suites/security/secretsIn.js';
import { all, ledgerOf } from './support.js';

afterEach(() => {
  TestBed.resetTestingModule();
});

const baseUrl = 'http://ledger.example/api';

interface Client {
  readonly ledger: Ledger;
  readonly http: HttpTestingController;
  /** The requests that an interceptor has received. */
  readonly intercepted: HttpRequest<unknown>[];
}

function client(options: Partial<LedgerOptions> = {}): Client {
  const intercepted: HttpRequest<unknown>[] = [];
  const recording: HttpInterceptorFn = (request, next) => {
    intercepted.push(request);
    return next(request);
  };
  const ledger = ledgerOf(
    provideHttpClient(withInterceptors([recording])),
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
    expect(first.request.method).toBe('GET');
    expect(first.request.body).toBeNull();
    first.flush('{"offset":0}');
    const { request } = await updates(http);
    expect(request.method).toBe('POST');
    expect(JSON.parse(String(request.body))).toMatchObject({ beginExclusive: 0 });
    expect(request.headers.get('content-type')).toBe('application/json');
    for (const { headers, responseType, transferCache } of intercepted) {
      expect(headers.get('authorization')).toBe('Bearer a-token');
      expect(headers.get('x-tenant')).toBe('seven');
      expect({ responseType, transferCache }).toEqual({ responseType: 'text', transferCache: false });
    }
    expect(intercepted).toHaveLength(2);
    seen.subscription.unsubscribe();
  });

  it('requests another token when one is refused', () => {
    const tokens = ['old', 'new'];
    const { ledger, http, intercepted } = client({ token: () => tokens.shift() ?? 'none' });
    const { values } = observe(ledger.ledgerEnd());
    end(http).flush('', { status: 401, statusText: 'Unauthorized' });
    end(http).flush('{"offset":7}');
    expect(values).toEqual([7]);
    expect(intercepted.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer old', 'Bearer new']);
  });

  it('fails with a ConnectionError without secrets where there is no answer', () => {
    const { ledger, http } = client({ token: 'a-secret-token' });
    const seen = observe(ledger.ledgerEnd());
    end(http).error(new Event('error') as ProgressEvent);
    expect(seen.error).toMatchObject({ _tag: 'ConnectionError' });
    expect(secretsIn(seen.error, ['a-secret-token', '://'])).toEqual([]);
  });

  it('fails with a ConnectionError without secrets where an interceptor fails', () => {
    const failing: HttpInterceptorFn = () => throwError(() => new Error('a-secret-token'));
    const ledger = ledgerOf(
      provideHttpClient(withInterceptors([failing])),
      provideHttpClientTesting(),
      provideLedger({ baseUrl }, withAngularHttp()),
    );
    const { error } = observe(ledger.ledgerEnd());
    expect(error).toMatchObject({ _tag: 'ConnectionError' });
    expect(secretsIn(error, ['a-secret-token'])).toEqual([]);
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
    const failing: HttpInterceptorFn = () => throwError(() => broken);
    const { port } = portOnly(failing);
    const seen = observe(port({ method: 'GET', url: `${baseUrl}/v2/state/ledger-end`, headers: {} }));
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
    const failing: HttpInterceptorFn = () => throwError(() => error);
    const { port } = portOnly(failing);
    const seen = observe(port({ method: 'GET', url: `${baseUrl}/v2/state/ledger-end`, headers: {} }));
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
    const ledger = ledgerOf(
      provideHttpClient(withInterceptors([limited])),
      provideHttpClientTesting(),
      provideLedger({ baseUrl }, withAngularHttp()),
    );
    const learned = firstValueFrom(
      ledger.diagnostics$.pipe(
        filter((event) => event._tag === 'PageLimitLearned'),
        take(2),
        toArray(),
      ),
    );
    const { subscription } = observe(ledger.updates({ ...all, endInclusive: 1_000 }));
    expect(await learned).toMatchObject([{ pageLimit: 100 }, { pageLimit: 50 }]);
    subscription.unsubscribe();
    expect(limits.slice(0, 2)).toEqual([200, 100]);
  });
});
