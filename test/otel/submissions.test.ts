import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { describe, expect, it } from '@jest/globals';
import { from, lastValueFrom, Subject, take, takeUntil, tap, type Observable } from 'rxjs';
import type {
  PreparedSubmission,
  PrepareRequest,
  Signature,
  Signer,
  SubmitOptions,
  Transaction,
} from '../../src/index.js';
import { cantonError } from '../../src/sandbox/index.js';
import { observe } from '../helpers/observe.js';
import { sandboxes } from '../helpers/localServers.js';
import { createAsset, transactionPath } from '../sandbox/commands.js';
import { until } from '../helpers/time.js';
import { ledgerWith, sdk, withContexts, type Sdk } from './support.js';

const start = sandboxes();
withContexts();

const execute = '/v2/interactive-submission/executeAndWaitForTransaction';

/** A traced ledger of a sandbox, and a submission of one of its parties. */
async function setUp() {
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
  const ledger = ledgerWith({ baseUrl: sandbox.url, retry: { baseDelayMs: 5 } }, telemetry);
  const tracer = telemetry.tracerProvider.getTracer('test');
  /** Subscribes in a span; returns the span, and the result or the error. */
  const inSpan = async <A>(source$: Observable<A>) => {
    const span = tracer.startSpan('caller');
    const result = await context
      .with(trace.setSpan(context.active(), span), () => lastValueFrom(source$))
      .catch((error: unknown) => error);
    span.end();
    return { span: span.spanContext(), result };
  };
  const submission = (options: Partial<SubmitOptions> = {}) =>
    ledger.submit(request, signer, { verify: false, ...options });
  return { sandbox, alice, telemetry, tracer, signer, request, ledger, inSpan, submission };
}

const outcomes = async ({ measured }: Sdk): Promise<unknown> =>
  (await measured('canton_rx.submissions')).map(({ attributes, value }) => ({ ...attributes, value }));

describe('a submission', () => {
  it('is committed in the trace of its caller, and has a span with an event for each step', async () => {
    const { ledger, request, signer, inSpan, telemetry, sandbox } = await setUp();
    const { span, result } = await inSpan(ledger.submit(request, signer, { verify: () => Promise.resolve(true) }));
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
    // the transaction has the span of the request that committed it
    expect(submission?.links.map((link) => link.context.spanId)).toEqual([execution?.spanContext().spanId]);
    expect(telemetry.spans().map(({ name }) => name)).toEqual([
      'POST /v2/interactive-submission/prepare',
      'GET /v2/parties/participant-id',
      'GET /v2/state/ledger-end',
      'GET /v2/parties/participant-id',
      `POST ${execute}`,
      'submit',
      'caller',
    ]);
  });

  it('has an event for each attempt and for a lost answer', async () => {
    const { sandbox, inSpan, submission, telemetry } = await setUp();
    sandbox.fault({ kind: 'reset', when: 'after' }, { path: execute });
    const { span, result } = await inSpan(submission());
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
    const attempts = telemetry.spans(`POST ${execute}`);
    expect(attempts.map(({ attributes }) => attributes['error.type'])).toEqual(['ECONNRESET', 'DUPLICATE_COMMAND']);
    expect(attempts.map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.ERROR]);
    // the first attempt was committed, and the link is to it
    expect(one?.links.map((link) => link.context.spanId)).toEqual([attempts[0]?.spanContext().spanId]);
    expect(telemetry.spans().every((other) => other.spanContext().traceId === span.traceId)).toBe(true);
    expect(result).toMatchObject({ _tag: 'Transaction' });
    expect(await outcomes(telemetry)).toEqual([{ 'canton.submission.outcome': 'committed', value: 1 }]);
    expect(await telemetry.measured('canton_rx.retries')).toMatchObject([
      { attributes: { 'error.type': 'ECONNRESET' }, value: 1 },
    ]);
    expect(await telemetry.measured('canton_rx.submission.duration')).toMatchObject([{ unit: 's', value: 1 }]);
  });

  it('has the outcome of a rejection, of an unknown outcome, of a signer that fails and of a failed verification', async () => {
    const { sandbox, inSpan, submission, ledger, request, telemetry, alice } = await setUp();
    const refused = cantonError('INVALID_ARGUMENT', { cause: 'the words of the ledger' });
    sandbox.fault({ kind: 'status', status: 400, body: refused }, { path: execute });
    expect((await inSpan(submission())).result).toMatchObject({ _tag: 'SubmissionRejectedError' });
    sandbox.fault({ kind: 'reset', when: 'before' }, { path: execute });
    expect((await inSpan(submission({ recover: false }))).result).toMatchObject({ _tag: 'OutcomeUnknownError' });
    sandbox.fault({ kind: 'body', body: '{"transaction":{}}' }, { path: execute });
    await inSpan(submission({ recover: false }));
    const failing: Signer = {
      party: alice.party,
      sign: () => Promise.reject(new RangeError('the words of the signer')),
    };
    await inSpan(ledger.submit(request, failing, { verify: false }));
    await inSpan(ledger.submit(request, failing, { verify: () => Promise.resolve(false) }));

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

  it('runs its verifier and its signers in its span, and its subscriber in the span of the caller', async () => {
    const { ledger, request, signer, inSpan, telemetry, tracer } = await setUp();
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
    const { span } = await inSpan(
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

  it('has a span for each subscription, and commits its change once', async () => {
    const { sandbox, submission, inSpan, telemetry } = await setUp();
    const submission$ = submission({ recover: false });
    sandbox.fault({ kind: 'reset', when: 'after' }, { path: execute });
    const first = await inSpan(submission$);
    expect(first.result).toMatchObject({ _tag: 'OutcomeUnknownError' });
    const second = await inSpan(submission$);
    expect(second.result).toMatchObject({ offset: 1 });
    expect(sandbox.updates).toHaveLength(1);
    const spans = telemetry.spans('submit');
    expect(spans.map((one) => one.spanContext().traceId)).toEqual([first.span.traceId, second.span.traceId]);
    expect(spans.map(({ attributes }) => attributes['canton.submission.outcome'])).toEqual(['unknown', 'committed']);
    // committed by the first attempt, in the trace of the first subscription
    expect(spans[1]?.links.map((link) => link.context.traceId)).toEqual([first.span.traceId]);
  });

  it('is abandoned when it is unsubscribed', async () => {
    const { sandbox, submission, telemetry } = await setUp();
    sandbox.fault({ kind: 'hang' }, { path: execute });
    const unsubscribed$ = new Subject<void>();
    const seen = observe(submission().pipe(takeUntil(unsubscribed$)));
    await until(() => sandbox.requests.some(({ path }) => path === execute));
    unsubscribed$.next();
    expect(seen.completed).toBe(true);
    expect(telemetry.attributes('submit', 'canton.submission.outcome')).toEqual(['abandoned']);
    expect(telemetry.attributes(`POST ${execute}`, 'canton_rx.result')).toEqual(['aborted']);
  });

  it('has one outcome where the subscriber unsubscribes when it receives the transaction', async () => {
    const { submission, telemetry } = await setUp();
    await lastValueFrom(submission().pipe(take(1)));
    expect(await outcomes(telemetry)).toEqual([{ 'canton.submission.outcome': 'committed', value: 1 }]);
  });

  it('has its requests in its span without a context manager, as in browsers', async () => {
    context.disable();
    const { submission, telemetry } = await setUp();
    const transaction = await lastValueFrom(submission());
    const [one] = telemetry.spans('submit');
    const children = telemetry.spans().filter(({ name }) => name !== 'submit');
    expect(children).toHaveLength(5);
    expect(new Set(children.map(({ parentSpanContext }) => parentSpanContext?.spanId))).toEqual(
      new Set([one?.spanContext().spanId]),
    );
    expect(transaction.traceContext?.traceparent).toContain(one?.spanContext().traceId);
  });

  it('that is only executed is committed in the trace of its caller', async () => {
    const { ledger, request, signer, inSpan, telemetry, alice } = await setUp();
    const { span: preparing, result } = await inSpan(ledger.prepare(request));
    const { preparedTransaction, preparedTransactionHash, hashingSchemeVersion } = result as PreparedSubmission;
    const signatures = (await lastValueFrom(
      from(signer.sign(Buffer.from(preparedTransactionHash, 'base64'))),
    )) as Signature;
    const { span, result: transaction } = await inSpan(
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

  it('of a hosted party is committed in the trace of its caller, and has a span with its attempts and its outcome', async () => {
    const { ledger, sandbox, inSpan, telemetry } = await setUp();
    const desk = sandbox.hostedParty('desk');
    const commands = { commandId: 'create-1', userId: 'app', actAs: [desk], commands: [createAsset(desk)] } as const;
    sandbox.fault({ kind: 'reset', when: 'after' }, { path: transactionPath });
    const { span, result } = await inSpan(ledger.submitAndWaitForTransaction(commands));
    expect(result).toMatchObject({ isRepeated: true });
    const { traceContext, updateId, offset } = result as Transaction;
    expect(traceContext?.traceparent).toContain(span.traceId);

    const [submission] = telemetry.spans('submit commands');
    expect(submission?.parentSpanContext?.spanId).toBe(span.spanId);
    expect(submission?.events.map(({ name }) => name)).toEqual(['sent', 'unclear', 'sent']);
    expect(submission?.attributes).toMatchObject({
      'canton.command.id': 'create-1',
      'canton.submission.id': expect.stringMatching(/^canton-rx\/1\/[0-9a-f-]{36}$/),
      'canton.submission.outcome': 'committed',
      'canton.update.id': updateId,
      'canton.offset': offset,
    });
    const attempts = telemetry.spans(`POST ${transactionPath}`);
    expect(attempts.map(({ attributes }) => attributes['error.type'])).toEqual(['ECONNRESET', 'DUPLICATE_COMMAND']);
    expect(submission?.links.map((link) => link.context.spanId)).toEqual([attempts[0]?.spanContext().spanId]);
    expect(telemetry.spans().every((other) => other.spanContext().traceId === span.traceId)).toBe(true);

    const body = cantonError('LOCAL_VERDICT_INACTIVE_CONTRACTS');
    sandbox.fault({ kind: 'status', status: 404, body }, { path: transactionPath });
    await inSpan(ledger.submitAndWaitForTransaction({ ...commands, commandId: undefined }));
    const [, rejected] = telemetry.spans('submit commands');
    expect(rejected?.attributes).not.toHaveProperty(['canton.command.id']);
    expect(await outcomes(telemetry)).toEqual([
      { 'canton.submission.outcome': 'committed', value: 1 },
      { 'canton.submission.outcome': 'rejected', 'error.type': 'LOCAL_VERDICT_INACTIVE_CONTRACTS', value: 1 },
    ]);
    expect(await telemetry.measured('canton_rx.submission.duration')).toHaveLength(2);
  });

  it('with invalid options throws at once', async () => {
    const { ledger, request, signer } = await setUp();
    expect(() => ledger.submit(request, signer, {} as SubmitOptions)).toThrow(TypeError);
  });
});
