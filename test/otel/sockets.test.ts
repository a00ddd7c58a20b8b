import { describe, expect, it } from '@jest/globals';
import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { concat, EMPTY, filter, lastValueFrom, NEVER, of, take, tap, throwError } from 'rxjs';
import { acsDelta } from '../../src/index.js';
import type { SocketPort } from '../../src/ws/SocketPort.js';
import { webSocketTransport } from '../../src/ws/index.js';
import { wsPort } from '../../src/ws/wsPort.js';
import { ledgerWith, sdk, withContexts } from './support.js';
import { until } from '../helpers/time.js';
import { sandboxes } from '../helpers/localServers.js';

const start = sandboxes();
withContexts();

describe('a feed by WebSocket', () => {
  it('has a span for each upgrade, sends its context, and counts its updates and the sockets that close', async () => {
    const sandbox = await start({ profile: '3.5' });
    sandbox.fault({ kind: 'socket', how: 'refuse', status: 400 });
    const telemetry = sdk();
    const sent: (string | undefined)[] = [];
    const open = wsPort();
    const port: SocketPort = (request) => {
      sent.push(request.headers['traceparent']);
      return open(request);
    };
    const ledger = ledgerWith({ baseUrl: sandbox.url, transport: webSocketTransport({ port }) }, telemetry);
    const subscriber = telemetry.tracerProvider.getTracer('test').startSpan('subscriber');
    const opened$ = ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'SocketOpened'));
    const appending = opened$.pipe(tap(() => sandbox.generate(3, { variants: ['Transaction'] }))).subscribe();
    const updates$ = ledger.updates(
      { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) },
      { idleTimeoutMs: 50 },
    );
    await context.with(trace.setSpan(context.active(), subscriber), () =>
      lastValueFrom(
        updates$.pipe(
          filter(({ _tag }) => _tag === 'Transaction'),
          take(3),
        ),
      ),
    );
    appending.unsubscribe();
    const spans = telemetry.spans('open socket');
    expect(spans.map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET]);
    expect(spans.map(({ attributes }) => attributes['error.type'])).toEqual(['ConnectionError', undefined]);
    expect(spans.map((span) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`)).toEqual(sent);
    expect(spans.every(({ links }) => links[0]?.context.spanId === subscriber.spanContext().spanId)).toBe(true);
    expect(await telemetry.measured('canton_rx.sockets.closed')).toMatchObject([
      { attributes: { 'error.type': 'ConnectionError' }, value: 1 },
    ]);
    const updates = await telemetry.measured('canton_rx.updates');
    expect(updates.map(({ value }) => value).reduce((a, b) => a + b, 0)).toBeGreaterThanOrEqual(3);
  });

  it.each([
    ['is closed before it is open', () => EMPTY, true],
    ['fails', () => throwError(() => new Error('no')), true],
    ['is unsubscribed', () => NEVER, false],
    ['opens and closes', () => concat(of({ _tag: 'Open' } as const), of({ _tag: 'End', code: 1000 } as const)), true],
  ])('ends the span of a socket that %s', async (_, port, isClosed) => {
    const sandbox = await start({ profile: '3.5' });
    sandbox.generate(3);
    const telemetry = sdk();
    const transport = webSocketTransport({ port });
    const ledger = ledgerWith({ baseUrl: sandbox.url, transport, retry: { baseDelayMs: 5 } }, telemetry);
    const started: string[] = [];
    const tracer = telemetry.tracerProvider.getTracer('canton-rx');
    const startSpan = tracer.startSpan.bind(tracer);
    tracer.startSpan = (name, ...rest) => {
      started.push(name);
      return startSpan(name, ...rest);
    };
    const tags: string[] = [];
    const diagnosing = ledger.diagnostics$.subscribe(({ _tag }) => tags.push(_tag));
    const feed = ledger
      .updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }, { idleTimeoutMs: 20 })
      .subscribe();
    await until(() => (isClosed ? tags.includes('SocketClosed') : started.includes('open socket')));
    feed.unsubscribe();
    diagnosing.unsubscribe();
    const sockets = started.filter((name) => name === 'open socket');
    expect(telemetry.spans('open socket')).toHaveLength(sockets.length);
  });

  it('has the same template as its polls, with a path prefix as well', async () => {
    const sandbox = await start({ profile: '3.5' });
    sandbox.generate(3);
    const telemetry = sdk();
    const ledger = ledgerWith(
      {
        baseUrl: `${sandbox.url}/of/v2/tenant`,
        transport: webSocketTransport({ port: () => EMPTY }),
        fetch: (input, init) => {
          const request = new Request(input, init);
          return fetch(new Request(request.url.replace('/of/v2/tenant', ''), request));
        },
      },
      telemetry,
    );
    const feed = ledger
      .updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }, { idleTimeoutMs: 20 })
      .subscribe();
    await until(() => telemetry.spans('open socket').length > 0);
    feed.unsubscribe();
    const [poll, socket] = [telemetry.spans('poll updates')[0], telemetry.spans('open socket')[0]];
    expect(socket?.attributes['url.template']).toBe(poll?.attributes['url.template']);
  });
});
