import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { defer, delay, EMPTY, NEVER, of, throwError, type Observable, type ObservableInput } from 'rxjs';
import {
  createLedger,
  type DeduplicationPeriod,
  type ExecuteOptions,
  type ExecuteRequest,
  type LedgerOptions,
} from '../../src/index.js';
import { observe } from '../helpers/observe.js';
import { scriptedService, type Reply, type ScriptedService } from '../helpers/scripted.js';
import {
  errorBody,
  errorReply,
  notFound,
  ok,
  transaction,
  transactionValue,
  transactionWith,
} from '../helpers/wire.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { byOffsetPath, completionPath, endPath, executePath, participantPath } from '../helpers/submissionPlan.js';
import { committedAnswer, secrets, signedRequest } from './support.js';

// a sum of random delays is not exact
beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const duplicate = (offset = '11'): Reply =>
  errorReply(409, errorBody('DUPLICATE_COMMAND', 10, { completion_offset: offset, definite_answer: 'true' }));

/** The completion of an attempt that was committed. */
const committedCompletion = (offset: number, submissionId: string, isReassignment = false): object => ({
  completionResponse: {
    Completion: {
      value: {
        commandId: 'c',
        userId: 'me',
        actAs: ['alice::1220ab'],
        submissionId,
        updateId: `1220${offset}`,
        status: { code: 0, message: '', details: [] },
        deduplicationPeriod: isReassignment ? { Empty: {} } : { DeduplicationOffset: { value: 0 } },
        offset,
        synchronizerTime: { synchronizerId: 's::1220', recordTime: '2026-07-24T00:00:00Z' },
      },
    },
  },
});

/** A submission that leaves the submission id to the library. */
const unnamed: ExecuteRequest = { ...signedRequest, submissionId: undefined };

/** The responses of a service. */
interface Responses {
  /** To each attempt; the last one to all further ones. */
  readonly execute: readonly ObservableInput<Reply>[];
  readonly end?: ObservableInput<Reply>;
  readonly read?: ObservableInput<Reply>;
  readonly participant?: ObservableInput<Reply>;
  /** To each look-up of a completion; the last one to all further ones. */
  readonly completion?: readonly ObservableInput<Reply>[];
  /** To each request of a feed. */
  readonly feed?: ObservableInput<Reply>;
}

function serviceWith({
  execute,
  end = [ok({ offset: 10 })],
  participant = [ok({ participantId: 'p::1220' })],
  read = [ok(transaction(11))],
  completion = [[notFound]],
  feed = [notFound],
}: Responses): ScriptedService {
  let attempts = 0;
  let lookUps = 0;
  return scriptedService(({ path }) => {
    if (path === endPath) return end;
    if (path === participantPath) return participant;
    if (path === byOffsetPath) return read;
    if (path === completionPath) return completion[Math.min((lookUps += 1), completion.length) - 1] ?? EMPTY;
    if (path !== executePath) return feed;
    attempts += 1;
    return execute[Math.min(attempts, execute.length) - 1] ?? EMPTY;
  });
}

const ledgerOf = ({ port }: ScriptedService, options: Partial<LedgerOptions> = {}) =>
  createLedger({ baseUrl: 'http://ledger.example', port, ...options });

/** Executes a submission at a service in virtual time, to its end. */
function play(
  responses: Responses | ScriptedService,
  options?: ExecuteOptions,
  ledgerOptions?: Partial<LedgerOptions>,
  request: ExecuteRequest = signedRequest,
) {
  const service = 'port' in responses ? responses : serviceWith(responses);
  const seen = marbles(({ flush }) => {
    const observed = observe(ledgerOf(service, ledgerOptions).executeAndWaitForTransaction(request, options));
    flush();
    return observed;
  });
  const { requests } = service;
  return { seen, requests, attempts: requests.filter(({ path }) => path === executePath) };
}

const delayed = (ms: number, reply: Reply): Observable<Reply> => of(reply).pipe(delay(ms));

describe('before a submission is sent', () => {
  it('the ledger end is read, and errors show it', () => {
    const { seen, requests } = play({ execute: [[errorReply(400, errorBody('INVALID_ARGUMENT', 8))]] });
    expect(requests.map(({ path }) => path)).toEqual([participantPath, endPath, participantPath, executePath]);
    expect(seen.error).toMatchObject({ submission: { since: 10, sentAt: 0, attempts: 1 } });
  });

  it.each<[string, ObservableInput<Reply>, number]>([
    ['is not served', [notFound], 0],
    ['fails', [errorReply(500, 'no')], 0],
    ['does not decode', [ok({ offset: 'here' })], 0],
    ['breaks the connection', [reset], 0],
    ['arrives late', delayed(60_000, ok({ offset: 10 })), 5_000],
    ['never arrives', NEVER, 5_000],
  ])('a ledger end that %s delays the submission by 5 seconds at most', (_, end, atMs) => {
    const { seen } = play({ execute: [[committedAnswer(11)]], end });
    expect(seen).toMatchObject({ completed: true, times: [atMs], error: undefined });
  });

  it('a week takes the place of an offset of the caller if the ledger end is unknown', () => {
    const service = serviceWith({ execute: [[committedAnswer(11)]], end: [notFound] });
    const deduplicationPeriod = { DeduplicationOffset: { value: 5 } };
    marbles(({ flush }) => {
      observe(ledgerOf(service).executeAndWaitForTransaction({ ...signedRequest, deduplicationPeriod }));
      flush();
    });
    const week = { DeduplicationDuration: { value: { seconds: 604_800, nanos: 0 } } };
    expect(service.requests.at(-1)?.body).toMatchObject({ deduplicationPeriod: week });
  });

  it('a ledger end within 5 seconds is awaited', () => {
    const { seen } = play({ execute: [[reset], [duplicate('none')]], end: delayed(4_999, ok({ offset: 10 })) });
    expect(seen.error).toMatchObject({ submission: { since: 10, sentAt: 4_999 } });
  });
});

describe('a submission whose response was lost', () => {
  it.each<[string, ObservableInput<Reply>]>([
    ['a reset', [reset]],
    ['a timeout', NEVER],
    ['no response', EMPTY],
    ['half a response', [{ ...ok({}), text: '{"transaction":{"upd' }]],
    ['a response that does not decode', [ok({ transaction: { updateId: 7 } })]],
    ['a timeout of the HTTP layer', [errorReply(503, 'The server was not able to produce a timely response')]],
    ['a timeout of a gateway', [errorReply(504, '<html>')]],
    ['an expired token', [errorReply(409, errorBody('ACCESS_TOKEN_EXPIRED', 2))]],
  ])('is sent again with the same bytes and another submission id, and its transaction is read: %s', (_, loss) => {
    const { seen, requests, attempts } = play({ execute: [loss, [duplicate()]] });
    expect(seen.values).toMatchObject([{ _tag: 'Transaction', offset: 11 }]);
    const [first, second, ...others] = attempts.map(({ body }) => body);
    expect(others).toEqual([]);
    // the participant's own period can be shorter than the time for which it holds an attempt
    const week = { DeduplicationDuration: { value: { seconds: 604_800, nanos: 0 } } };
    expect(first).toMatchObject({ ...signedRequest, deduplicationPeriod: week });
    const submissionId = expect.stringMatching(/^[-0-9a-f]{36}$/);
    expect(second).toEqual({ ...first, submissionId, deduplicationPeriod: week });
    expect(requests.filter(({ path }) => path === byOffsetPath)).toMatchObject([{ body: { offset: 11 } }]);
  });

  it('is not mistaken for a transaction of another ledger that has taken the place of the first', () => {
    let participantId = 'p::1220';
    const read = defer(() => {
      participantId = 'other::1220';
      return [ok(transaction(11))];
    });
    const participant = defer(() => [ok({ participantId })]);
    const { seen } = play({ execute: [[reset], [duplicate()]], participant, read });
    expect(seen.values).toEqual([]);
    expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', completionOffset: 11 });
  });

  // since is 10
  it.each([
    ['from the earliest offset that a pruned participant allows', '7', { DeduplicationOffset: { value: 7 } }],
    [
      'not from an offset after its first attempt',
      '11',
      { DeduplicationDuration: { value: { seconds: 604_800, nanos: 0 } } },
    ],
    ['not from what is no offset', '-', { DeduplicationDuration: { value: { seconds: 604_800, nanos: 0 } } }],
  ])('is searched for %s', (_, earliest_offset, deduplicationPeriod) => {
    const pruned = [errorReply(400, errorBody('INVALID_DEDUPLICATION_PERIOD', 9, { earliest_offset }))];
    const { seen, attempts } = play({ execute: [[reset], pruned, [duplicate()]] });
    expect(seen.values).toMatchObject([{ offset: 11 }]);
    expect(attempts.map(({ body }) => body['deduplicationPeriod']).at(-1)).toEqual(deduplicationPeriod);
  });

  it.each<[string, DeduplicationPeriod | undefined, number]>([
    ['twice', undefined, 2],
    [
      'once with a period of the caller, which is not weakened',
      { DeduplicationDuration: { value: { seconds: 600 } } },
      1,
    ],
  ])('is sent %s to a participant that is pruned within any period', (_, deduplicationPeriod, count) => {
    const service = serviceWith({
      execute: [[errorReply(400, errorBody('INVALID_DEDUPLICATION_PERIOD', 9, { earliest_offset: '7' }))]],
    });
    const { seen } = play(service, {}, {}, { ...signedRequest, deduplicationPeriod });
    expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', code: 'INVALID_DEDUPLICATION_PERIOD' });
    expect(service.requests.filter(({ path }) => path === executePath)).toHaveLength(count);
  });

  it('is sent again while it is in flight', () => {
    const inFlight = [errorReply(409, errorBody('SUBMISSION_ALREADY_IN_FLIGHT', 2))];
    const { seen, attempts } = play({ execute: [[reset], inFlight, inFlight, inFlight, [duplicate()]] });
    expect(seen.values).toMatchObject([{ offset: 11 }]);
    expect(attempts).toHaveLength(5);
  });

  it.each<[string, string, number]>([
    ['is a number', '11', 11],
    ['is a Scala option', 'Some(11)', 11],
  ])('is found when its completion offset %s', (_, completionOffset, offset) => {
    const { seen } = play({ execute: [[duplicate(completionOffset)]] });
    expect(seen.values).toMatchObject([{ offset }]);
  });

  it.each(['', 'None', '-1', '1e3', '99999999999999999999'])(
    'is unknown without a valid completion offset: %p',
    (completionOffset) => {
      const { seen } = play({ execute: [[duplicate(completionOffset)]] });
      expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', lastError: { code: 'DUPLICATE_COMMAND' } });
      expect(seen.error).not.toHaveProperty('completionOffset', expect.anything());
    },
  );

  it('is unknown, with its completion offset, when its transaction cannot be read', () => {
    const read = [errorReply(403, errorBody('NA', -1))];
    const { seen } = play({ execute: [[duplicate()]], read });
    expect(seen.error).toMatchObject({
      _tag: 'OutcomeUnknownError',
      completionOffset: 11,
      lastError: { _tag: 'ApiError', status: 403 },
    });
  });

  // another participant behind the same address may refuse what the first has committed
  it.each<[string, number, number]>([
    ['LOCAL_VERDICT_INACTIVE_CONTRACTS', 11, 404],
    ['LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND', 2, 409],
    ['LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND', 2, 409],
    ['LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED', 2, 409],
    ['LEDGER_TIME_OUTSIDE_BOUNDS', 8, 400],
    ['CONTRACT_NOT_FOUND', 11, 404],
    ['UNKNOWN_CONTRACT_SYNCHRONIZERS', 9, 400],
    ['FAILED_TO_EXECUTE_TRANSACTION', 8, 400],
    ['INVALID_ARGUMENT', 8, 400],
    ['INVALID_EXTERNAL_SIGNATURE', 8, 400],
    ['PERMISSION_DENIED', 5, 403],
    ['NOT_CONNECTED_TO_SYNCHRONIZER', 9, 400],
    ['OFFSET_AFTER_LEDGER_END', 12, 400],
    ['LEDGER_API_INTERNAL_ERROR', 4, 500],
  ])('is not reported as uncommitted when the next attempt is refused: %s', (code, category, status) => {
    // even though the answer is definite for this attempt
    const refusal = [errorReply(status, errorBody(code, category, { definite_answer: 'true' }))];
    const lost = play({ execute: [[reset], refusal] }, { recover: { withinMs: 10_000 } }).seen;
    const found = play({ execute: [[reset], refusal, [duplicate()]] }).seen;
    expect(lost.error).toMatchObject({ _tag: 'OutcomeUnknownError', lastError: { code } });
    expect(found.values).toMatchObject([{ offset: 11 }]);
  });

  it.each<[string, Reply]>([
    ['a gateway that does not know the path', notFound],
    ['a gateway that forbids it', errorReply(403, '')],
    ['a refused token', errorReply(401, '')],
    ['a refused connection', Object.assign(new Error('no'), { code: 'ECONNREFUSED' })],
    ['back-pressure', errorReply(409, errorBody('PARTICIPANT_BACKPRESSURE', 2))],
  ])('stays unknown after another failure of the next attempt: %s', (_, reply) => {
    const lost = play({ execute: [[reset], [reply]] }, { recover: { withinMs: 10_000 } }).seen;
    const found = play({ execute: [[reset], [reply], [duplicate()]] }).seen;
    expect(lost.error).toMatchObject({ _tag: 'OutcomeUnknownError' });
    expect(found.values).toMatchObject([{ offset: 11 }]);
  });
});

describe('a submission whose response was lost, and whose hash is known', () => {
  const other = '08'.repeat(32);
  const signed = (offset: number): object => transactionWith(offset, { externalTransactionHash: hash.toString('hex') });
  const hash = Buffer.alloc(32, 0xab);
  const transactionHash = hash.toString('base64');
  const inactive = errorReply(404, errorBody('LOCAL_VERDICT_INACTIVE_CONTRACTS', 11));
  const noCompletion = errorReply(404, errorBody('COMPLETION_NOT_FOUND', 11));
  const accepted = ok({ acceptedCompletion: { commandId: 'c', updateId: '122011', offset: 11 } });

  it('is found by its completion, and not sent again', () => {
    const { seen, requests, attempts } = play({ execute: [[reset]], completion: [[accepted]] }, { transactionHash });
    expect(seen.values).toMatchObject([{ offset: 11 }]);
    expect(attempts).toHaveLength(1);
    expect(requests.find(({ path }) => path === completionPath)?.body).toEqual({ transactionHash });
  });

  it.each<[string, ObservableInput<Reply>]>([
    ['does not serve the path', [notFound]],
    ['does not implement the path', [errorReply(501, '')]],
    ['knows no completion', [noCompletion]],
    ['knows only rejected attempts', [ok({ acceptedCompletion: null, lastRejectedCompletions: [{ offset: 11 }] })]],
    ['does not permit it', [errorReply(403, errorBody('NA', -1))]],
    ['breaks the connection', [reset]],
    ['answers with something else', [ok([])]],
    ['does not answer', NEVER],
  ])('is sent again if the participant %s', (_, completion) => {
    const { seen, attempts } = play(
      { execute: [[reset], [duplicate()]], completion: [completion] },
      { transactionHash },
    );
    expect(seen.values).toMatchObject([{ offset: 11 }]);
    expect(attempts).toHaveLength(2);
    expect(seen.endedAt).toBeLessThanOrEqual(6_000);
  });

  it('is sent again if the response is that of other bytes, as a gateway may mix them up', () => {
    const mixedUp = ok({ transaction: transactionValue(12, { externalTransactionHash: other }) });
    const { seen, attempts } = play(
      { execute: [[mixedUp], [duplicate()]], read: [ok(signed(11))] },
      { transactionHash },
    );
    expect(seen.values).toMatchObject([{ offset: 11, isRepeated: true }]);
    expect(attempts).toHaveLength(2);
  });

  it('is not the transaction that another participant has at the offset of its completion', () => {
    let reads = 0;
    const read = defer(() => [
      ok((reads += 1) < 3 ? transactionWith(11, { externalTransactionHash: other }) : signed(11)),
    ]);
    const { seen } = play({ execute: [[reset]], completion: [[accepted]], read }, { transactionHash });
    expect(seen).toMatchObject({ error: undefined, values: [{ externalTransactionHash: hash.toString('hex') }] });
  });

  it.each<[string, string, object]>([
    ['of it', 'canton-rx', { error: { _tag: 'OutcomeUnknownError', completionOffset: 11 } }],
    ['of other bytes with its command id', 'of another program', { values: [{ offset: 11, isRepeated: true }] }],
  ])(
    'is the transaction of other bytes only if the ledger refuses it because of an attempt %s',
    (_, whose, outcome) => {
      let sent = '';
      const service = scriptedService(({ path, body }) => {
        if (path === endPath) return [ok({ offset: 10 })];
        if (path === participantPath) return [ok({ participantId: 'p::1220' })];
        if (path === byOffsetPath) return [ok(transactionWith(11, { externalTransactionHash: other }))];
        if (path !== executePath) return [notFound];
        const existingSubmissionId = `Some(${whose === 'canton-rx' ? sent : whose})`;
        const context = { completion_offset: '11', existingSubmissionId };
        if (sent !== '') return [errorReply(409, errorBody('DUPLICATE_COMMAND', 10, context))];
        sent = String(body['submissionId']);
        return [reset];
      });
      expect(play(service, { transactionHash }).seen).toMatchObject(outcome);
    },
  );

  it('is committed, but unknown in detail, if it has a completion and cannot be read', () => {
    const read = [errorReply(403, errorBody('NA', -1))];
    const { seen } = play({ execute: [[reset]], completion: [[accepted]], read }, { transactionHash });
    expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', completionOffset: 11 });
  });

  it('is found by a later completion after another participant refused it, and not sent again', () => {
    const completion = [[noCompletion], [noCompletion], [noCompletion], [accepted]];
    const { seen, attempts } = play({ execute: [[reset], [inactive]], completion }, { transactionHash });
    expect(seen.values).toMatchObject([{ offset: 11 }]);
    expect(attempts).toHaveLength(2);
  });

  it('is found in the feed after another participant refused it', () => {
    const ours = JSON.parse(
      JSON.stringify(transaction(12)).replace(
        '"externalTransactionHash":null',
        `"externalTransactionHash":"${hash.toString('hex')}"`,
      ),
    ) as object;
    let ends = 0;
    let executions = 0;
    const service = scriptedService(({ path }) => {
      // the participant has not received the transaction at first
      if (path === endPath) return [ok({ offset: (ends += 1) < 4 ? 10 : 12 })];
      if (path === participantPath) return [ok({ participantId: 'p::1220' })];
      if (path === byOffsetPath) return [ok(ours)];
      if (path === completionPath) return [notFound];
      if (path.startsWith('/v2/updates')) return [ok([transaction(11), ours])];
      return [(executions += 1) === 1 ? reset : inactive];
    });
    const { seen, attempts } = play(service, { transactionHash });
    expect(seen).toMatchObject({ error: undefined, values: [{ offset: 12 }] });
    expect(attempts).toHaveLength(2);
  });

  it.each<[string, number, object]>([
    [
      'another transaction has archived its contract',
      12,
      { _tag: 'SubmissionRejectedError', reason: 'inactiveContract' },
    ],
    ['the contract was archived before the first attempt', 9, { _tag: 'SubmissionRejectedError' }],
  ])('was not committed, which is known at once, if %s', (_, archivedAt, error) => {
    const contractId = `00${'cd'.repeat(32)}`;
    const gone = { ...errorBody('LOCAL_VERDICT_INACTIVE_CONTRACTS', 11), resources: [['CONTRACT_ID', contractId]] };
    let executions = 0;
    const service = scriptedService(({ path }) => {
      if (path === endPath) return [ok({ offset: 10 })];
      if (path === participantPath) return [ok({ participantId: 'p::1220' })];
      if (path === executePath) return [(executions += 1) === 1 ? reset : errorReply(404, gone)];
      if (path === '/v2/events/events-by-contract-id')
        return [ok({ created: null, archived: { archivedEvent: { contractId, offset: archivedAt } } })];
      if (path.startsWith('/v2/updates')) return [ok([transaction(11), transaction(12)])];
      return [notFound];
    });
    const { seen, attempts } = play(service, { transactionHash });
    expect(seen.error).toMatchObject(error);
    expect(attempts).toHaveLength(2);
    expect(seen.endedAt).toBeLessThan(10_000);
  });

  it('is found by the completion of an attempt if the participant does not serve completions by hash', () => {
    // an automatic reassignment for the transaction has the same ids
    let executions = 0;
    let sent = '';
    const service = scriptedService(({ path, body }) => {
      if (path === endPath) return [ok({ offset: 10 })];
      if (path === participantPath) return [ok({ participantId: 'p::1220' })];
      if (path === byOffsetPath) return [ok(transaction(Number(body['offset'])))];
      if (path === '/v2/commands/command-completions')
        return [ok([committedCompletion(11, sent, true), committedCompletion(12, sent)])];
      if (path !== executePath) return [notFound];
      executions += 1;
      if (executions === 1) sent = String(body['submissionId']);
      return executions === 1 ? [reset] : NEVER;
    });
    const { seen } = play(service, {}, {}, unnamed);
    expect(seen.values).toMatchObject([{ offset: 12, isRepeated: true }]);
    expect(seen.endedAt).toBeLessThan(5_000);
  });

  it('is the transaction of its completion, and not the one that another participant has at that offset', () => {
    let sent = '';
    let reads = 0;
    const service = scriptedService(({ path, body }) => {
      if (path === endPath) return [ok({ offset: 10 })];
      if (path === participantPath) return [ok({ participantId: 'p::1220' })];
      if (path === byOffsetPath)
        return [ok((reads += 1) < 3 ? transactionWith(12, { updateId: 'other' }) : transaction(12))];
      if (path === '/v2/commands/command-completions') return [ok([committedCompletion(12, sent)])];
      if (path !== executePath) return [notFound];
      if (sent !== '') return NEVER;
      sent = String(body['submissionId']);
      return [reset];
    });
    expect(play(service, {}, {}, unnamed).seen).toMatchObject({ error: undefined, values: [{ updateId: '122012' }] });
  });

  it('is not taken for committed because another submission of the caller has the same submission id', () => {
    // the other one is committed meanwhile; this one never is
    const service = scriptedService(({ path, body }) => {
      if (path === endPath) return [ok({ offset: 10 })];
      if (path === participantPath) return [ok({ participantId: 'p::1220' })];
      if (path === byOffsetPath) return [ok(transaction(Number(body['offset'])))];
      if (path === '/v2/commands/command-completions') return [ok([committedCompletion(11, 'try-1')])];
      return path === executePath ? [reset] : [notFound];
    });
    const { seen } = play(service, { recover: { withinMs: 30_000 } }, {}, { ...signedRequest, submissionId: 'try-1' });
    expect(seen).toMatchObject({ values: [], error: { _tag: 'OutcomeUnknownError' } });
  });

  it.each<[string, (asked: number) => Reply]>([
    ['another participant answers now', (asked) => ok({ participantId: asked <= 2 ? 'p::1220' : 'q::1220' })],
    ['the participant does not report its id', () => notFound],
  ])('stays unknown although its contract is archived if %s', (_, participantId) => {
    const contractId = `00${'cd'.repeat(32)}`;
    const gone = { ...errorBody('LOCAL_VERDICT_INACTIVE_CONTRACTS', 11), resources: [['CONTRACT_ID', contractId]] };
    let asked = 0;
    let executions = 0;
    const service = scriptedService(({ path }) => {
      if (path === endPath) return [ok({ offset: 10 })];
      if (path === participantPath) return [participantId((asked += 1))];
      if (path === executePath) return [(executions += 1) === 1 ? reset : errorReply(404, gone)];
      if (path === '/v2/events/events-by-contract-id')
        return [ok({ created: null, archived: { archivedEvent: { contractId, offset: 9 } } })];
      return [notFound];
    });
    const { seen } = play(service, { transactionHash, recover: { withinMs: 30_000 } });
    expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError' });
    expect(seen.endedAt).toBe(30_000);
  });

  it('is unknown when the time is used up, after two attempts only', () => {
    const { seen, attempts } = play(
      { execute: [[reset], [inactive]], completion: [[noCompletion]] },
      { transactionHash, recover: { withinMs: 30_000 } },
    );
    expect(seen.error).toMatchObject({
      _tag: 'OutcomeUnknownError',
      lastError: { code: 'LOCAL_VERDICT_INACTIVE_CONTRACTS' },
      submission: { attempts: 2 },
    });
    expect(seen.endedAt).toBe(30_000);
    expect(attempts).toHaveLength(2);
  });
});

describe('a submission that was certainly not committed', () => {
  it.each(['ECONNREFUSED', 'ENOTFOUND'])('fails with a NotSentError without a connection: %s', (code) => {
    const { seen, attempts } = play({ execute: [[Object.assign(new Error('no'), { code })]] });
    expect(seen.error).toMatchObject({ _tag: 'NotSentError', code, submission: { attempts: 1 } });
    expect(attempts).toHaveLength(1);
  });

  it.each<[string, Observable<string>]>([
    ['fails', throwError(() => new Error('hush'))],
    ['never emits', NEVER],
    ['completes without one', EMPTY],
  ])('fails with a NotSentError when the token provider %s', (_, token$) => {
    const { seen, requests } = play({ execute: [[committedAnswer(11)]] }, {}, { token: () => token$ });
    expect(seen.error).toMatchObject({ _tag: 'NotSentError', submission: { attempts: 1 } });
    expect(String(seen.error)).not.toContain('hush');
    expect(requests).toEqual([]);
  });

  it.each<[string, () => NonNullable<LedgerOptions['token']>, number]>([
    ['the provider returns the same token again', () => 'the-same', 1],
    [
      'the other token is refused, too, without further attempts',
      () => {
        let tokens = 0;
        return () => `token-${(tokens += 1)}`;
      },
      2,
    ],
  ])('fails with an UnauthorizedError when %s', (_, token, sent) => {
    const refused = errorReply(401, '');
    const { seen, attempts } = play(
      { execute: [[refused]], end: [refused], participant: [refused] },
      {},
      { token: token() },
    );
    expect(seen.error).toMatchObject({ _tag: 'UnauthorizedError', path: executePath, tokenChanged: sent > 1 });
    expect(attempts).toHaveLength(sent);
  });

  it('waits while the participant refuses a token that it accepted before, and is committed', () => {
    const refused = [errorReply(401, '')];
    const { seen, attempts } = play(
      { execute: [refused, refused, refused, [committedAnswer(11)]] },
      {},
      { token: () => 'a' },
    );
    expect(seen).toMatchObject({ error: undefined, values: [{ offset: 11 }] });
    expect(attempts).toHaveLength(4);
  });

  it('fails with an UnauthorizedError when the time is used up', () => {
    const { seen } = play(
      { execute: [[errorReply(401, '')]] },
      { recover: { withinMs: 30_000 } },
      { token: () => 'a' },
    );
    expect(seen.error).toMatchObject({ _tag: 'UnauthorizedError', mayPass: true });
    expect(seen.endedAt).toBe(30_000);
  });

  it('is sent again with another token, also without recovery', () => {
    let tokens = 0;
    const { seen, attempts } = play(
      { execute: [[errorReply(401, '')], [committedAnswer(11)]] },
      { recover: false },
      { token: () => `token-${(tokens += 1)}` },
    );
    expect(seen.values).toMatchObject([{ offset: 11 }]);
    expect(attempts.map(({ token }) => token)).toEqual(['token-4', 'token-5']);
  });

  it('is sent again while the service is busy, and rejected when the time is used up', () => {
    const { seen, attempts } = play(
      { execute: [[errorReply(409, errorBody('PARTICIPANT_BACKPRESSURE', 2))]] },
      { recover: { withinMs: 30_000 } },
    );
    expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', code: 'PARTICIPANT_BACKPRESSURE' });
    expect(seen.endedAt).toBe(30_000);
    expect(attempts.length).toBeGreaterThan(6);
  });
});

describe('the first response to a submission', () => {
  it.each<[string, Reply]>([
    ...[
      'UPDATE_NOT_FOUND',
      'PACKAGE_NAMES_NOT_FOUND',
      'TEMPLATES_OR_INTERFACES_NOT_FOUND',
      'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
      'NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
    ].map((code): [string, Reply] => [code, errorReply(404, errorBody(code, 11))]),
    ['408 without a body', errorReply(408, '')],
    ['408 with an error of the ledger', errorReply(408, errorBody('REQUEST_TIMEOUT', -1))],
    ['408 with an error of a category', errorReply(408, errorBody('REQUEST_TIMEOUT', 9))],
  ])('leaves the outcome unknown if it may follow a commit: %s', (_, reply) => {
    const lost = play({ execute: [[reply]] }, { recover: false }).seen;
    const found = play({ execute: [[reply], [duplicate()]] }).seen;
    const lastError = { _tag: 'ApiError', status: 'status' in reply ? reply.status : NaN };
    expect(lost.error).toMatchObject({ _tag: 'OutcomeUnknownError', lastError });
    expect(found.values).toMatchObject([{ offset: 11 }]);
  });
});

describe('the time to recover', () => {
  it.each([
    [{}, 120_000],
    [{ recover: undefined }, 120_000],
    [{ recover: { withinMs: 7_000 } }, 7_000],
  ])('is two minutes by default: %j', (options, endedAt) => {
    const { seen } = play({ execute: [[reset]] }, options);
    expect(seen).toMatchObject({ endedAt, error: { _tag: 'OutcomeUnknownError' } });
  });

  it('starts with the first failure, and leaves the last attempt five seconds', () => {
    const { seen } = play({ execute: [NEVER] }, { recover: { withinMs: 40_000 } });
    // the first attempt takes 30 seconds
    expect(seen.endedAt).toBeGreaterThanOrEqual(70_000);
    expect(seen.endedAt).toBeLessThanOrEqual(75_000);
    expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', lastError: { _tag: 'RequestTimeoutError' } });
  });

  it('is not exceeded by attempts that take longer than a minute', () => {
    const { seen } = play({ execute: [NEVER] }, { recover: { withinMs: 150_000 } }, { requestTimeoutMs: 100_000 });
    // the first attempt, the time to recover, and 5 seconds for the last attempt
    expect(seen.endedAt).toBeLessThanOrEqual(100_000 + 150_000 + 5_000);
    expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError' });
  });

  it('is not exceeded by a Retry-After header', () => {
    const { seen, attempts } = play(
      { execute: [[errorReply(503, 'soon', { 'retry-after': '3600' })]] },
      { recover: { withinMs: 10_000 } },
    );
    expect(seen.endedAt).toBe(10_000);
    expect(attempts).toHaveLength(2);
  });

  it('has no delays longer than five seconds', () => {
    const retry = { baseDelayMs: 30_000, maxDelayMs: 60_000 };
    const { attempts } = play({ execute: [[reset]] }, {}, { retry });
    expect(attempts.length).toBeGreaterThan(120_000 / 5_000);
  });

  it.each([0, -1, NaN])('must be positive: %p', (withinMs) => {
    const ledger = ledgerOf(serviceWith({ execute: [[reset]] }));
    expect(() => ledger.executeAndWaitForTransaction(signedRequest, { recover: { withinMs } })).toThrow(TypeError);
  });
});

describe('commands for which the participant names a later beginning of the period each time', () => {
  it.each<[string, ExecuteOptions, number]>([
    ['when the time is used up', { recover: { withinMs: 30_000 } }, 30_000],
    ['after the second attempt without recovery', { recover: false }, 2_000],
  ])('are rejected %s', (_, options, endedAt) => {
    const service = scriptedService(({ path, body }) => {
      if (path === endPath) return [ok({ offset: 10 })];
      if (path !== '/v2/commands/submit-and-wait-for-transaction') return [notFound];
      const { deduplicationPeriod } = body['commands'] as {
        deduplicationPeriod: { DeduplicationOffset: { value: number } };
      };
      // a test in virtual time must end
      const earliest_offset = String(Math.min(200, deduplicationPeriod.DeduplicationOffset.value + 1));
      return delayed(1_000, errorReply(400, errorBody('INVALID_DEDUPLICATION_PERIOD', 9, { earliest_offset })));
    });
    const seen = marbles(({ flush }) => {
      const commands = [{ CreateCommand: { templateId: '#p:M:T', createArguments: {} } }];
      const request = { actAs: ['alice::1220ab'], userId: 'me', commandId: 'c', commands } as const;
      const observed = observe(ledgerOf(service).submitAndWaitForTransaction(request, options));
      flush();
      return observed;
    });
    expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', code: 'INVALID_DEDUPLICATION_PERIOD' });
    expect(seen.endedAt).toBeLessThanOrEqual(endedAt + 2_000);
  });
});

describe('a change with two subscriptions', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

  it.each<[string, Reply, Reply, object]>([
    ['refuses connections', reset, refused, { error: { _tag: 'OutcomeUnknownError' } }],
    ['does not know the path', reset, notFound, { error: { _tag: 'OutcomeUnknownError' } }],
    [
      'is overloaded',
      reset,
      errorReply(409, errorBody('PARTICIPANT_BACKPRESSURE', 2)),
      { error: { _tag: 'OutcomeUnknownError' } },
    ],
    ['refuses connections after the commit', committedAnswer(11), refused, { values: [{ offset: 11 }] }],
    ['no longer knows the path after the commit', committedAnswer(11), notFound, { values: [{ offset: 11 }] }],
  ])('is not reported as uncommitted by the second, at a service that %s', (_, reply, then, expected) => {
    marbles(({ flush }) => {
      const transaction$ = ledgerOf(serviceWith({ execute: [[reply], [then]] })).executeAndWaitForTransaction(
        signedRequest,
        { recover: false },
      );
      const first = observe(transaction$);
      flush();
      const second = observe(transaction$);
      flush();
      expect(first).toMatchObject(expected);
      expect(second.error).toMatchObject({ _tag: 'OutcomeUnknownError' });
    });
  });

  it.each<[string, Reply]>([
    ['was lost', reset],
    ['was refused', errorReply(400, errorBody('INVALID_ARGUMENT', 8))],
  ])('sends an attempt of its own after one that %s, with a period that reaches back to that', (_, reply) => {
    marbles(({ flush }) => {
      const service = serviceWith({ execute: [[reply], [committedAnswer(11)]] });
      const transaction$ = ledgerOf(service).executeAndWaitForTransaction(signedRequest, { recover: false });
      observe(transaction$);
      flush();
      observe(transaction$);
      flush();
      const bodies = service.requests.filter(({ path }) => path === executePath).map(({ body }) => body);
      expect(bodies.map((body) => body['deduplicationPeriod'])).toEqual([
        { DeduplicationDuration: { value: { seconds: 604_800, nanos: 0 } } },
        { DeduplicationDuration: { value: { seconds: 604_800, nanos: 0 } } },
      ]);
      expect(new Set(bodies.map((body) => body['submissionId'])).size).toBe(2);
    });
  });

  itInVirtualTime('starts at the earlier one', ({ flush }) => {
    let ends = 0;
    const service = scriptedService(({ path }) =>
      path === endPath
        ? delayed((ends += 1) * 1_000, ok({ offset: 10 * ends }))
        : [path === participantPath ? notFound : reset],
    );
    const transaction$ = ledgerOf(service).executeAndWaitForTransaction(signedRequest, { recover: false });
    const both = [observe(transaction$), observe(transaction$)];
    flush();
    const submission = { since: 10, sentAt: 1_000 };
    expect(both.map(({ error }) => error)).toMatchObject([{ submission }, { submission }]);
  });
});

describe('reading a committed transaction', () => {
  it('tries the path of single updates again when the feed cannot be read', () => {
    let reads = 0;
    const service = scriptedService(({ path }) => {
      if (path === executePath) return [duplicate()];
      if (path !== byOffsetPath) return [errorReply(503, 'no')];
      return [(reads += 1) === 1 ? notFound : ok(transaction(11))];
    });
    expect(play(service).seen.values).toMatchObject([{ offset: 11 }]);
  });

  it.each<[string, Responses]>([
    [
      'by its offset',
      { execute: [[reset], delayed(8_000, duplicate())], read: [errorReply(503, 'no')], end: [ok({ offset: 10 })] },
    ],
    ['by a feed', { execute: [[duplicate()]], read: [notFound], feed: [errorReply(503, 'no')] }],
  ])('takes no longer than the time that is left: %s', (_, responses) => {
    const { seen } = play(responses, { recover: { withinMs: 10_000 } });
    expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', completionOffset: 11 });
    expect(seen.endedAt).toBeLessThanOrEqual(15_000);
  });
});

describe('an error', () => {
  it('shows neither the signed bytes nor the response', () => {
    const answer = ok({ transaction: { updateId: 7, secret: 'hush', echo: secrets.signature } });
    const { seen } = play({ execute: [[answer]] }, { recover: false });
    expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', lastError: { _tag: 'DecodeError' } });
    const shown = `${String(seen.error)}${JSON.stringify(seen.error)}`;
    for (const secret of ['hush', ...Object.values(secrets)]) expect(shown).not.toContain(secret);
  });
});
