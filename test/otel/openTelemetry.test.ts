import { context, propagation } from '@opentelemetry/api';
import { BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { lastValueFrom, of, toArray } from 'rxjs';
import { createLedger } from '../../src/index.js';
import type { Telemetry } from '../../src/otel/index.js';
import { processFeed, updatesFeed } from '../../src/process/index.js';
import { effort } from '../helpers/effort.js';
import { sandboxes } from '../helpers/localServers.js';
import { observe } from '../helpers/observe.js';
import { updateFormat } from '../helpers/world.js';
import { mockPlatform } from '../process/support.js';
import { play, scenarios } from './scenario.js';
import { ledgerWith, enableContexts, failingTelemetry, sdk } from './support.js';

const start = sandboxes();
mockPlatform();
afterEach(() => {
  context.disable();
  propagation.disable();
});

describe('the attributes of the server', () => {
  it.each([
    ['http://127.0.0.1:7575/prefix', '127.0.0.1', 7575],
    ['https://ledger.example', 'ledger.example', 443],
    ['http://ledger.example', 'ledger.example', 80],
    ['http://[::1]:7575', '::1', 7575],
  ])('of %s follow the semantic conventions', async (baseUrl, address, serverPort) => {
    const telemetry = sdk();
    const port = () => of({ status: 200, headers: {}, text: '{"offset":7}' });
    await lastValueFrom(ledgerWith({ baseUrl, port }, telemetry).ledgerEnd());
    const [span] = telemetry.spans();
    expect(span?.attributes).toMatchObject({ 'server.address': address, 'server.port': serverPort });
  });
});

describe('a traced ledger', () => {
  const providers: readonly (readonly [string, Telemetry | undefined])[] = [
    ['an SDK', sdk()],
    ['a context manager and no SDK', undefined],
    ...failingTelemetry(),
  ];
  it.each(providers)('emits the same as a plain ledger, at the same time, with %s', (what, telemetry) => {
    if (telemetry === undefined) enableContexts();
    fc.assert(
      fc.property(scenarios, (scenario) => {
        expect(play((options) => ledgerWith(options, telemetry), scenario)).toEqual(play(createLedger, scenario));
      }),
      { numRuns: what === 'an SDK' ? effort(15, 40) : effort(4, 20) },
    );
  });

  it('leaves no span open and no feed active, whatever happens and whenever it is unsubscribed', async () => {
    let spans = 0;
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const open = new Set<object>();
        const { meterProvider, measured } = sdk();
        const processor: SpanProcessor = {
          onStart: (span) => {
            spans += 1;
            open.add(span);
          },
          onEnd: (span) => {
            expect(open.delete(span)).toBe(true);
          },
          forceFlush: () => Promise.resolve(),
          shutdown: () => Promise.resolve(),
        };
        const tracerProvider = new BasicTracerProvider({ spanProcessors: [processor] });
        play((options) => ledgerWith(options, { tracerProvider, meterProvider }), scenario);
        expect([...open]).toEqual([]);
        expect((await measured('canton_rx.feeds.active')).map(({ value }) => value)).toEqual([0]);
      }),
      { numRuns: effort(15, 40) },
    );
    expect(spans).toBeGreaterThan(effort(20, 100));
  });

  it('sends its requests with a propagator that fails', async () => {
    propagation.setGlobalPropagator({
      inject: () => {
        throw new Error('no headers');
      },
      extract: (context) => context,
      fields: () => [],
    });
    const sandbox = await start();
    const ledger = ledgerWith({ baseUrl: sandbox.url }, sdk());
    expect(await lastValueFrom(ledger.ledgerEnd())).toBe(sandbox.ledgerEnd);
  });

  it('sends the same headers as a plain ledger without an SDK', async () => {
    const headers: string[][] = [];
    const sandbox = await start();
    sandbox.generate(20, { seed: 7 });
    const recordingFetch: typeof fetch = (input, init) => {
      headers.push([...(input as Request).headers.keys()]);
      return fetch(input, init);
    };
    const request = { beginExclusive: 0, endInclusive: sandbox.ledgerEnd, updateFormat };
    for (const create of [createLedger, ledgerWith])
      await lastValueFrom(create({ baseUrl: sandbox.url, fetch: recordingFetch }).updates(request).pipe(toArray()));
    expect(headers.length).toBeGreaterThan(1);
    expect(headers.slice(headers.length / 2)).toEqual(headers.slice(0, headers.length / 2));
  });

  it("adds the propagator's headers to those of the program, and keeps the token", async () => {
    const sent: Headers[] = [];
    const sandbox = await start();
    propagation.setGlobalPropagator({
      inject: (_, carrier, setter) => {
        setter.set(carrier, 'X-B3-TraceId', 'of-another-kind');
      },
      extract: (context) => context,
      fields: () => ['X-B3-TraceId'],
    });
    const recordingFetch: typeof fetch = (input, init) => {
      sent.push((input as Request).headers);
      return fetch(input, init);
    };
    const options = { baseUrl: sandbox.url, fetch: recordingFetch, token: 'the-token', headers: { 'x-tenant': 'a' } };
    await lastValueFrom(ledgerWith(options, sdk()).ledgerEnd());
    expect(Object.fromEntries(sent[0] ?? [])).toMatchObject({
      authorization: 'Bearer the-token',
      'x-tenant': 'a',
      'x-b3-traceid': 'of-another-kind',
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
    });
  });

  it('fails with the same error as a plain ledger where there is no request', () => {
    const missing = undefined as never;
    const errors = [createLedger, ledgerWith].map((create) => {
      const ledger = create({ baseUrl: 'http://ledger.example' });
      const feeds = [ledger.updates(missing), processFeed(updatesFeed(ledger, missing), () => undefined)];
      return feeds.map((feed$) => observe<unknown>(feed$).error);
    });
    expect(errors[0]).toMatchObject([{ _tag: 'InvalidRequestError' }, { _tag: 'InvalidRequestError' }]);
    expect(errors[1]).toEqual(errors[0]);
  });
});
