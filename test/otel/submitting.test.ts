import { context, SpanKind, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lastValueFrom, type Observable } from 'rxjs';
import type { PrepareRequest, Signer, Transaction } from '../../src/index.js';
import { createTracedLedger } from '../../src/otel/index.js';
import { sandboxes } from '../helpers/sandboxes.js';
import { sdk, withContexts } from './support.js';

const start = sandboxes();
const contexts = withContexts();
beforeEach(contexts.enable);
afterEach(contexts.disable);

const execute = '/v2/interactive-submission/executeAndWaitForTransaction';

async function given() {
  const sandbox = await start();
  const alice = sandbox.externalParty('alice');
  const telemetry = sdk();
  const signer: Signer = {
    party: alice.party,
    sign: (hash) => Promise.resolve(alice.sign(Buffer.from(hash).toString('base64'))),
  };
  const request: PrepareRequest = {
    commandId: 'create-1',
    actAs: [alice.party],
    commands: [
      {
        CreateCommand: {
          templateId: '#sandbox-assets:Main:Asset',
          createArguments: { owner: alice.party, amount: '10.0', tag: null, serial: '1' },
        },
      },
    ],
  };
  const ledger = createTracedLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 5 } }, telemetry);
  const tracer = telemetry.tracerProvider.getTracer('test');
  /** Subscribes within a span, and tells the span. */
  const within = async <A>(source$: Observable<A>) => {
    const span = tracer.startSpan('caller');
    const result = await context
      .with(trace.setSpan(context.active(), span), () => lastValueFrom(source$))
      .catch((error: unknown) => error);
    span.end();
    return { span: span.spanContext(), result };
  };
  return { sandbox, alice, telemetry, signer, request, ledger, within };
}

describe('a submission', () => {
  it('is committed in the trace of its caller, as a span with a step for each step', async () => {
    const { ledger, request, signer, within, telemetry, sandbox } = await given();
    const { span, result } = await within(ledger.submit(request, signer, { verify: () => Promise.resolve(true) }));
    const transaction = result as Transaction;
    expect(transaction.traceContext?.traceparent).toContain(span.traceId);

    const [submission] = telemetry.spans('submit');
    expect(submission?.spanContext().traceId).toBe(span.traceId);
    expect(submission?.parentSpanContext?.spanId).toBe(span.spanId);
    expect(submission?.events.map(({ name }) => name)).toEqual(['prepared', 'verified', 'signed', 'sent']);
    expect(submission?.attributes).toMatchObject({
      'canton.command.id': 'create-1',
      'canton.submission.outcome': 'committed',
      'canton.update.id': transaction.updateId,
      'canton.offset': sandbox.ledgerEnd,
      'server.address': '127.0.0.1',
    });
    expect(submission?.attributes['canton.submission.id']).toMatch(/^[0-9a-f-]{36}$/);
    const [execution] = telemetry.spans(`POST ${execute}`);
    expect(execution?.parentSpanContext?.spanId).toBe(submission?.spanContext().spanId);
    expect(execution?.kind).toBe(SpanKind.CLIENT);
    expect(execution?.attributes).toMatchObject({ 'http.response.status_code': 200, 'url.template': execute });
    // it is the request with that span's id that was committed
    expect(submission?.links.map((link) => link.context.spanId)).toEqual([execution?.spanContext().spanId]);
    expect(telemetry.spans().map(({ name }) => name)).toEqual([
      'POST /v2/interactive-submission/prepare',
      'GET /v2/state/ledger-end',
      `POST ${execute}`,
      'submit',
      'caller',
    ]);
  });
});
