import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { from, lastValueFrom, Subject, take, takeUntil, tap, type Observable } from 'rxjs';
import type {
  PreparedSubmission,
  PrepareRequest,
  Signature,
  Signer,
  SubmitOptions,
  Transaction,
} from '../../src/index.js';
import { createTracedLedger } from '../../src/otel/index.js';
import { cantonError } from '../../src/sandbox/index.js';
import { observe } from '../helpers/observe.js';
import { sandboxes } from '../helpers/sandboxes.js';
import { until } from '../helpers/servers.js';
import { sdk, withContexts, type Sdk } from './support.js';

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
  const submission = (options: Partial<SubmitOptions> = {}) =>
    ledger.submit(request, signer, { verify: false, ...options });
  return { sandbox, alice, telemetry, tracer, signer, request, ledger, within, submission };
}

const outcomes = async ({ measured }: Sdk): Promise<unknown> =>
  (await measured('canton_rx.submissions')).map(({ attributes, value }) => ({ ...attributes, value }));

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

  it('tells of an answer that was lost, and of each try', async () => {
    const { sandbox, within, submission, telemetry } = await given();
    sandbox.fault({ kind: 'reset', when: 'after' }, { path: execute });
    const { span, result } = await within(submission());
    const [one] = telemetry.spans('submit');
    expect(one?.events.map(({ name, attributes }) => [name, attributes?.['canton.submission.attempt']])).toEqual([
      ['prepared', undefined],
      ['signed', undefined],
      ['sent', 1],
      ['unclear', 1],
      ['sent', 2],
    ]);
    expect(one?.events[3]?.attributes).toMatchObject({ 'error.type': 'ECONNRESET' });
    expect(one?.attributes['canton.submission.outcome']).toBe('committed');
    expect(one?.status.code).toBe(SpanStatusCode.UNSET);
    const tries = telemetry.spans(`POST ${execute}`);
    expect(tries.map(({ attributes }) => attributes['error.type'])).toEqual(['ECONNRESET', 'DUPLICATE_COMMAND']);
    expect(tries.map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.ERROR]);
    // the first try was committed, and it is the one that is linked
    expect(one?.links.map((link) => link.context.spanId)).toEqual([tries[0]?.spanContext().spanId]);
    expect(telemetry.spans().every((other) => other.spanContext().traceId === span.traceId)).toBe(true);
    expect(result).toMatchObject({ _tag: 'Transaction' });
    expect(await outcomes(telemetry)).toEqual([{ 'canton.submission.outcome': 'committed', value: 1 }]);
    expect(await telemetry.measured('canton_rx.retries')).toMatchObject([
      { attributes: { 'error.type': 'ECONNRESET' }, value: 1 },
    ]);
    expect(await telemetry.measured('canton_rx.submission.duration')).toMatchObject([{ unit: 's', value: 1 }]);
  });

  it('tells of one that was rejected, of one that nobody knows of, and of one whose signer fails', async () => {
    const { sandbox, within, submission, ledger, request, telemetry, alice } = await given();
    const refused = cantonError('INVALID_ARGUMENT', { cause: 'the words of the ledger' });
    sandbox.fault({ kind: 'status', status: 400, body: refused }, { path: execute });
    expect((await within(submission())).result).toMatchObject({ _tag: 'SubmissionRejectedError' });
    sandbox.fault({ kind: 'reset', when: 'before' }, { path: execute });
    expect((await within(submission({ recover: false }))).result).toMatchObject({ _tag: 'OutcomeUnknownError' });
    sandbox.fault({ kind: 'body', body: '{}' }, { path: execute });
    await within(submission({ recover: false }));
    const failing: Signer = {
      party: alice.party,
      sign: () => Promise.reject(new RangeError('the words of the signer')),
    };
    await within(ledger.submit(request, failing, { verify: false }));
    await within(ledger.submit(request, failing, { verify: () => Promise.resolve(false) }));

    const spans = telemetry.spans('submit');
    expect(spans.map(({ attributes }) => attributes['canton.submission.outcome'])).toEqual([
      'rejected',
      'unknown',
      'unknown',
      'failed',
      'not_verified',
    ]);
    expect(spans.map(({ attributes }) => attributes['error.type'])).toEqual([
      'INVALID_ARGUMENT',
      'OutcomeUnknownError',
      'OutcomeUnknownError',
      'RangeError',
      'VerificationError',
    ]);
    expect(spans.every(({ status: { code, message } }) => code === SpanStatusCode.ERROR && message === undefined)).toBe(
      true,
    );
    expect(await outcomes(telemetry)).toEqual([
      { 'canton.submission.outcome': 'rejected', 'error.type': 'INVALID_ARGUMENT', value: 1 },
      { 'canton.submission.outcome': 'unknown', 'error.type': 'OutcomeUnknownError', value: 2 },
      { 'canton.submission.outcome': 'failed', 'error.type': 'RangeError', value: 1 },
      { 'canton.submission.outcome': 'not_verified', 'error.type': 'VerificationError', value: 1 },
    ]);
    expect(await telemetry.measured('canton_rx.decode.failures')).toMatchObject([{ value: 1 }]);
    expect(await telemetry.exported()).not.toContain('the words of');
  });

  it('has what its verifier and its signers do in its span, and what comes after it in that of its caller', async () => {
    const { ledger, request, signer, within, telemetry, tracer } = await given();
    const inner = (name: string) => {
      tracer.startSpan(name).end();
    };
    const signing: Signer = {
      party: signer.party,
      sign: async (hash) => {
        await new Promise((resolve) => setImmediate(resolve));
        inner('sign');
        return lastValueFrom(from(signer.sign(hash)));
      },
    };
    const verify = () => {
      inner('verify');
      return Promise.resolve(true);
    };
    const { span } = await within(
      ledger.submit(request, signing, { verify }).pipe(
        tap(() => {
          inner('after');
        }),
      ),
    );
    const parentOf = (name: string) => telemetry.spans(name)[0]?.parentSpanContext?.spanId;
    const submission = telemetry.spans('submit')[0]?.spanContext().spanId;
    expect([parentOf('verify'), parentOf('sign')]).toEqual([submission, submission]);
    expect(parentOf('after')).toBe(span.spanId);
  });

  it('is one span for each subscription, and commits its change once all the same', async () => {
    const { sandbox, submission, within, telemetry } = await given();
    const submission$ = submission({ recover: false });
    sandbox.fault({ kind: 'reset', when: 'after' }, { path: execute });
    const first = await within(submission$);
    expect(first.result).toMatchObject({ _tag: 'OutcomeUnknownError' });
    const second = await within(submission$);
    expect(second.result).toMatchObject({ offset: sandbox.ledgerEnd });
    expect(sandbox.updates).toHaveLength(1);
    const spans = telemetry.spans('submit');
    expect(spans.map((one) => one.spanContext().traceId)).toEqual([first.span.traceId, second.span.traceId]);
    expect(spans.map(({ attributes }) => attributes['canton.submission.outcome'])).toEqual(['unknown', 'committed']);
    // committed by the first try, in another trace than the span that tells of it
    expect(spans[1]?.links.map((link) => link.context.traceId)).toEqual([first.span.traceId]);
  });

  it('ends when its subscriber leaves', async () => {
    const { sandbox, submission, telemetry } = await given();
    sandbox.fault({ kind: 'hang' }, { path: execute });
    const leaving = new Subject<void>();
    const listening = observe(submission().pipe(takeUntil(leaving)));
    await until(() => sandbox.requests.some(({ path }) => path === execute));
    leaving.next();
    expect(listening.completed).toBe(true);
    expect(telemetry.spans('submit').map(({ attributes }) => attributes['canton.submission.outcome'])).toEqual([
      'abandoned',
    ]);
    expect(telemetry.spans(`POST ${execute}`).map(({ attributes }) => attributes['canton_rx.result'])).toEqual([
      'aborted',
    ]);
  });

  it('ends once when its subscriber leaves with the transaction', async () => {
    const { submission, telemetry } = await given();
    await lastValueFrom(submission().pipe(take(1)));
    expect(await outcomes(telemetry)).toEqual([{ 'canton.submission.outcome': 'committed', value: 1 }]);
  });

  it('has its requests in its span also where no context manager carries contexts, as in browsers', async () => {
    contexts.disable();
    const { submission, telemetry } = await given();
    const transaction = await lastValueFrom(submission());
    const [one] = telemetry.spans('submit');
    const children = telemetry.spans().filter(({ name }) => name !== 'submit');
    expect(children).toHaveLength(3);
    expect(new Set(children.map(({ parentSpanContext }) => parentSpanContext?.spanId))).toEqual(
      new Set([one?.spanContext().spanId]),
    );
    expect(transaction.traceContext?.traceparent).toContain(one?.spanContext().traceId);
  });

  it('that is executed alone is committed in the trace of its caller, too', async () => {
    const { ledger, request, signer, within, telemetry, alice } = await given();
    const { span: preparing, result } = await within(ledger.prepare(request));
    const { preparedTransaction, preparedTransactionHash, hashingSchemeVersion } = result as PreparedSubmission;
    const signatures = (await lastValueFrom(
      from(signer.sign(Buffer.from(preparedTransactionHash, 'base64'))),
    )) as Signature;
    const { span, result: transaction } = await within(
      ledger.executeAndWaitForTransaction({
        preparedTransaction,
        hashingSchemeVersion,
        partySignatures: { signatures: [{ party: alice.party, signatures: [signatures] }] },
        deduplicationPeriod: { Empty: {} },
        submissionId: 'sub-1',
      }),
    );
    expect(transaction).toMatchObject({ traceContext: { traceparent: expect.stringContaining(span.traceId) } });
    expect(telemetry.spans('execute')[0]?.attributes['canton.submission.id']).toBe('sub-1');
    expect(telemetry.spans('POST /v2/interactive-submission/prepare')[0]?.parentSpanContext).toMatchObject({
      spanId: preparing.spanId,
    });
  });

  it('whose options make no sense is refused at once, as ever', async () => {
    const { ledger, request, signer } = await given();
    expect(() => ledger.submit(request, signer, {} as SubmitOptions)).toThrow(TypeError);
  });
});
