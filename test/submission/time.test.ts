import { describe, expect, it } from '@jest/globals';
import { delay, EMPTY, NEVER, of, throwError, type Observable, type ObservableInput } from 'rxjs';
import { createLedger, type ExecuteOptions, type LedgerOptions, type Transaction } from '../../src/index.js';
import { marbles } from '../helpers/marbles.js';
import { observe, type Observed } from '../helpers/observe.js';
import { canton, failed, notFound, ok, scripted, type Reply, type Scripted } from '../helpers/scripted.js';
import { byOffsetPath, endPath, executePath } from '../helpers/virtualSubmission.js';
import { transaction } from '../helpers/wire.js';
import { committedAnswer } from './committedAnswer.js';
import { secrets, signedRequest } from './signedRequest.js';

const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const duplicate = (offset = '11'): Reply =>
  failed(409, canton('DUPLICATE_COMMAND', 10, { completion_offset: offset, definite_answer: 'true' }));

interface Answers {
  /** By the number of the try; the last over and over. */
  readonly execute: readonly ObservableInput<Reply>[];
  readonly end?: ObservableInput<Reply>;
  readonly read?: ObservableInput<Reply>;
}

function answering({ execute, end = [ok({ offset: 10 })], read = [ok(transaction(11))] }: Answers): Scripted {
  let tries = 0;
  return scripted(({ path }) => {
    if (path === endPath) return end;
    if (path === byOffsetPath) return read;
    tries += 1;
    return execute[Math.min(tries, execute.length) - 1] ?? EMPTY;
  });
}

const submitted = (
  { port }: Scripted,
  options: ExecuteOptions = {},
  how: Partial<LedgerOptions> = {},
): Observed<Transaction> =>
  observe(
    createLedger({ baseUrl: 'http://ledger.example', port, ...how }).executeAndWaitForTransaction(
      signedRequest,
      options,
    ),
  );

const triesOf = ({ asked }: Scripted): Scripted['asked'] => asked.filter(({ path }) => path === executePath);

const late = (ms: number, reply: Reply): Observable<Reply> => of(reply).pipe(delay(ms));

describe('before a submission is sent', () => {
  it('the ledger end is asked for, and told with what fails', () => {
    marbles(({ flush }) => {
      const service = answering({ execute: [[failed(400, canton('INVALID_ARGUMENT', 8))]] });
      const seen = submitted(service);
      flush();
      expect(service.asked.map(({ path }) => path)).toEqual([endPath, executePath]);
      expect(seen.error).toMatchObject({ submission: { beginExclusive: 10, sentAt: 0, attempts: 1 } });
    });
  });

  it.each<[string, ObservableInput<Reply>, number]>([
    ['is not told', [notFound], 0],
    ['fails', [failed(500, 'no')], 0],
    ['is nonsense', [ok({ offset: 'here' })], 0],
    ['cannot be asked for', [reset], 0],
    ['comes late', late(60_000, ok({ offset: 10 })), 5_000],
    ['never comes', NEVER, 5_000],
  ])('a ledger end that %s holds up nothing', (_, end, atMs) => {
    marbles(({ flush }) => {
      const seen = submitted(answering({ execute: [[committedAnswer(11)]], end }));
      flush();
      expect(seen).toMatchObject({ completed: true, times: [atMs], error: undefined });
    });
  });

  it('an answer in time is waited for', () => {
    marbles(({ flush }) => {
      const service = answering({ execute: [[reset], [duplicate('none')]], end: late(4_999, ok({ offset: 10 })) });
      const seen = submitted(service);
      flush();
      expect(seen.error).toMatchObject({ submission: { beginExclusive: 10, sentAt: 4_999 } });
    });
  });
});

describe('a submission whose answer was lost', () => {
  it.each<[string, ObservableInput<Reply>]>([
    ['a reset', [reset]],
    ['silence', NEVER],
    ['no answer', EMPTY],
    ['half an answer', [{ ...ok({}), text: '{"transaction":{"upd' }]],
    ['an answer that does not decode', [ok({ transaction: { updateId: 7 } })]],
    ['a timeout of the HTTP layer', [failed(503, 'The server was not able to produce a timely response')]],
    ['a timeout of a gateway', [failed(504, '<html>')]],
    ['an expired token', [failed(409, canton('ACCESS_TOKEN_EXPIRED', 2))]],
  ])('is sent again, as another try of the same bytes, and read back: %s', (_, loss) => {
    marbles(({ flush }) => {
      const service = answering({ execute: [loss, [duplicate()]] });
      const seen = submitted(service);
      flush();
      expect(seen.values).toMatchObject([{ _tag: 'Transaction', offset: 11 }]);
      const [first, second, ...others] = triesOf(service).map(({ body }) => body);
      expect(others).toEqual([]);
      expect(first).toMatchObject({ ...signedRequest, deduplicationPeriod: { Empty: {} } });
      expect(second).toEqual({ ...first, submissionId: expect.stringMatching(/^[-0-9a-f]{36}$/) });
      expect(service.asked.at(-1)).toMatchObject({ path: byOffsetPath, body: { offset: 11 } });
    });
  });

  it('is waited for while it is in flight', () => {
    marbles(({ flush }) => {
      const inFlight = [failed(409, canton('SUBMISSION_ALREADY_IN_FLIGHT', 2))];
      const service = answering({ execute: [[reset], inFlight, inFlight, inFlight, [duplicate()]] });
      const seen = submitted(service);
      flush();
      expect(seen.values).toMatchObject([{ offset: 11 }]);
      expect(triesOf(service)).toHaveLength(5);
    });
  });

  it.each<[string, string, number]>([
    ['as a number', '11', 11],
    ['in the words of Scala', 'Some(11)', 11],
  ])('is found where the ledger tells it %s', (_, told, offset) => {
    marbles(({ flush }) => {
      const seen = submitted(answering({ execute: [[duplicate(told)]] }));
      flush();
      expect(seen.values).toMatchObject([{ offset }]);
    });
  });

  it.each(['', 'None', '-1', '1e3', '99999999999999999999'])(
    'is unknown where the ledger does not tell: %p',
    (told) => {
      marbles(({ flush }) => {
        const seen = submitted(answering({ execute: [[duplicate(told)]] }));
        flush();
        expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', lastError: { code: 'DUPLICATE_COMMAND' } });
        expect(seen.error).not.toHaveProperty('completionOffset', expect.anything());
      });
    },
  );

  it('is told with its offset where its transaction cannot be read', () => {
    marbles(({ flush }) => {
      const read = [failed(403, canton('NA', -1))];
      const seen = submitted(answering({ execute: [[duplicate()]], read }));
      flush();
      expect(seen.error).toMatchObject({
        _tag: 'OutcomeUnknownError',
        completionOffset: 11,
        lastError: { _tag: 'ApiError', status: 403 },
      });
    });
  });

  it('is told to be rejected where a further try is, by its bytes', () => {
    marbles(({ flush }) => {
      const execute = [[reset], [failed(400, canton('INVALID_EXTERNAL_SIGNATURE', 8))]];
      const seen = submitted(answering({ execute }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', submission: { attempts: 2 } });
    });
  });

  it.each([
    'LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND',
    'LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND',
    'LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED',
  ])('has expired where a further try has: %s', (code) => {
    marbles(({ flush }) => {
      const seen = submitted(answering({ execute: [[reset], [failed(409, canton(code, 2))]] }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'SubmissionExpiredError', code, submission: { attempts: 2 } });
    });
  });

  it.each<[string, Reply]>([
    ['a gateway that does not know the path', notFound],
    ['a gateway that forbids it', failed(403, '')],
    ['a token that is refused', failed(401, '')],
    ['a connection that is refused', Object.assign(new Error('no'), { code: 'ECONNREFUSED' })],
    ['back-pressure', failed(409, canton('PARTICIPANT_BACKPRESSURE', 2))],
  ])('stays unknown, whatever the next try meets: %s', (_, reply) => {
    marbles(({ flush }) => {
      const lost = submitted(answering({ execute: [[reset], [reply]] }), { recover: { withinMs: 10_000 } });
      const found = submitted(answering({ execute: [[reset], [reply], [duplicate()]] }));
      flush();
      expect(lost.error).toMatchObject({ _tag: 'OutcomeUnknownError' });
      expect(found.values).toMatchObject([{ offset: 11 }]);
    });
  });
});

describe('a submission that was certainly not carried out', () => {
  it.each(['ECONNREFUSED', 'ENOTFOUND'])('was not sent, and is not sent again: %s', (code) => {
    marbles(({ flush }) => {
      const service = answering({ execute: [[Object.assign(new Error('no'), { code })]] });
      const seen = submitted(service);
      flush();
      expect(seen.error).toMatchObject({ _tag: 'NotSentError', code, submission: { attempts: 1 } });
      expect(triesOf(service)).toHaveLength(1);
    });
  });

  it.each<[string, Observable<string>]>([
    ['fails', throwError(() => new Error('hush'))],
    ['never answers', NEVER],
    ['has none', EMPTY],
  ])('was not sent where the provider of the token %s', (_, token$) => {
    marbles(({ flush }) => {
      const service = answering({ execute: [[committedAnswer(11)]] });
      const seen = submitted(service, {}, { token: () => token$ });
      flush();
      expect(seen.error).toMatchObject({ _tag: 'NotSentError', submission: { attempts: 1 } });
      expect(String(seen.error)).not.toContain('hush');
      expect(service.asked).toEqual([]);
    });
  });

  it('is an UnauthorizedError where the provider has no other token', () => {
    marbles(({ flush }) => {
      const service = answering({ execute: [[failed(401, '')]] });
      const seen = submitted(service, {}, { token: 'the-same' });
      flush();
      expect(seen.error).toMatchObject({ _tag: 'UnauthorizedError', path: executePath });
      expect(triesOf(service)).toHaveLength(1);
    });
  });

  it('is sent once more with another token, also without recovery', () => {
    marbles(({ flush }) => {
      let tokens = 0;
      const service = answering({ execute: [[failed(401, '')], [committedAnswer(11)]] });
      const seen = submitted(service, { recover: false }, { token: () => `token-${(tokens += 1)}` });
      flush();
      expect(seen.values).toMatchObject([{ offset: 11 }]);
      expect(triesOf(service).map(({ token }) => token)).toEqual(['token-2', 'token-3']);
    });
  });

  it('is sent again for as long as the service is busy, and rejected when the time is over', () => {
    marbles(({ flush }) => {
      const service = answering({ execute: [[failed(409, canton('PARTICIPANT_BACKPRESSURE', 2))]] });
      const seen = submitted(service, { recover: { withinMs: 30_000 } });
      flush();
      expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', code: 'PARTICIPANT_BACKPRESSURE' });
      expect(seen.endedAt).toBe(30_000);
      expect(triesOf(service).length).toBeGreaterThan(6);
    });
  });
});

describe('the time in which to find out', () => {
  it('is two minutes, unless it is told otherwise', () => {
    marbles(({ flush }) => {
      const ended = [{}, { recover: undefined }, { recover: { withinMs: 7_000 } }].map((options) =>
        submitted(answering({ execute: [[reset]] }), options),
      );
      flush();
      expect(ended.map(({ endedAt }) => endedAt)).toEqual([120_000, 120_000, 7_000]);
      expect(ended.map(({ error }) => error)).toMatchObject(ended.map(() => ({ _tag: 'OutcomeUnknownError' })));
    });
  });

  it('begins with the first failure, and leaves the last try five seconds', () => {
    marbles(({ flush }) => {
      const seen = submitted(answering({ execute: [NEVER] }), { recover: { withinMs: 40_000 } });
      flush();
      // the first has its own 30 seconds
      expect(seen.endedAt).toBeGreaterThanOrEqual(70_000);
      expect(seen.endedAt).toBeLessThanOrEqual(75_000);
      expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', lastError: { _tag: 'RequestTimeoutError' } });
    });
  });

  it('is not exceeded by a wait that the service asks for', () => {
    marbles(({ flush }) => {
      const service = answering({ execute: [[failed(503, 'soon', { 'retry-after': '3600' })]] });
      const seen = submitted(service, { recover: { withinMs: 10_000 } });
      flush();
      expect(seen.endedAt).toBe(10_000);
      expect(triesOf(service)).toHaveLength(2);
    });
  });

  it('has no wait longer than five seconds', () => {
    marbles(({ flush }) => {
      const service = answering({ execute: [[reset]] });
      submitted(service, {}, { retry: { baseDelayMs: 30_000, maxDelayMs: 60_000 } });
      flush();
      expect(triesOf(service).length).toBeGreaterThan(120_000 / 5_000);
    });
  });

  it.each([0, -1, NaN])('is no time: %p', (withinMs) => {
    const { port } = answering({ execute: [[reset]] });
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port });
    expect(() => ledger.executeAndWaitForTransaction(signedRequest, { recover: { withinMs } })).toThrow(TypeError);
  });
});

describe('an error', () => {
  it('shows neither what was signed nor the answer', () => {
    marbles(({ flush }) => {
      const answer = ok({ transaction: { updateId: 7, secret: 'hush', echo: secrets.signature } });
      const seen = submitted(answering({ execute: [[answer]] }), { recover: false });
      flush();
      expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', lastError: { _tag: 'DecodeError' } });
      const shown = `${String(seen.error)}${JSON.stringify(seen.error)}`;
      for (const secret of ['hush', ...Object.values(secrets)]) expect(shown).not.toContain(secret);
    });
  });
});
