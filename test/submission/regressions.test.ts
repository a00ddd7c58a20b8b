import { describe, expect, it } from '@jest/globals';
import { delay, NEVER, of, type Observable } from 'rxjs';
import { createLedger, type DeduplicationPeriod, type LedgerOptions } from '../../src/index.js';
import { observe } from '../helpers/observe.js';
import { scriptedService, type Reply, type ScriptedService } from '../helpers/scripted.js';
import { VirtualParticipant } from '../helpers/virtualSubmission.js';
import { transaction, errorBody, errorReply, notFound, ok } from '../helpers/wire.js';
import { marbles } from '../helpers/time.js';
import { byOffsetPath, endPath, executePath } from '../helpers/submissionPlan.js';
import { calm } from './recovery/Schedule.js';
import { committedAnswer, signedRequest } from './support.js';

const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const seconds = (value: number): DeduplicationPeriod => ({
  DeduplicationDuration: { value: { seconds: value, nanos: 0 } },
});

/** A service that answers each attempt with the next reply, and all further ones with the last. `undefined` is no answer. */
const scriptedAttempts = (...replies: readonly (Reply | undefined)[]): ScriptedService => {
  let attempts = 0;
  return scriptedService(({ path }) => {
    if (path === endPath) return [ok({ offset: 10 })];
    if (path === byOffsetPath) return [ok(transaction(11))];
    attempts += 1;
    const reply = replies[Math.min(attempts, replies.length) - 1];
    return reply === undefined ? NEVER : [reply];
  });
};

const ledgerWith = ({ port }: ScriptedService, options: Partial<LedgerOptions> = {}): ReturnType<typeof createLedger> =>
  createLedger({ baseUrl: 'http://ledger.example', port, ...options });

const duplicate = errorReply(409, errorBody('DUPLICATE_COMMAND', 10, { completion_offset: '11' }));

describe('a change whose first subscription got no response', () => {
  it.each<[string, Reply]>([
    ['that refuses connections', refused],
    ['whose gateway does not know the path', notFound],
    ['that is overloaded', errorReply(409, errorBody('PARTICIPANT_BACKPRESSURE', 2))],
  ])('is not reported as uncommitted by a second one, at a service %s', (_, reply) => {
    marbles(({ flush }) => {
      const transaction$ = ledgerWith(scriptedAttempts(reset, reply)).executeAndWaitForTransaction(signedRequest, {
        recover: false,
      });
      const first = observe(transaction$);
      flush();
      const second = observe(transaction$);
      flush();
      expect(first.error).toMatchObject({ _tag: 'OutcomeUnknownError' });
      expect(second.error).toMatchObject({ _tag: 'OutcomeUnknownError' });
    });
  });
});

describe('a change with two subscriptions', () => {
  it.each<[string, Reply]>([
    ['refuses connections', refused],
    ['no longer knows the path', notFound],
  ])('is not reported as uncommitted by the second after the first emitted it, at a service that %s', (_, reply) => {
    marbles(({ flush }) => {
      const service = scriptedAttempts(committedAnswer(11), reply);
      const transaction$ = ledgerWith(service).executeAndWaitForTransaction(signedRequest, {
        recover: { withinMs: 5_000 },
      });
      const first = observe(transaction$);
      flush();
      const second = observe(transaction$);
      flush();
      expect(first.values).toMatchObject([{ offset: 11 }]);
      expect(second.error).toMatchObject({ _tag: 'OutcomeUnknownError' });
    });
  });

  it('starts at the earlier one', () => {
    marbles(({ flush }) => {
      let ends = 0;
      const service = scriptedService(({ path }) => {
        if (path !== endPath) return [reset];
        ends += 1;
        return of(ok({ offset: 10 * ends })).pipe(delay(ends * 1_000));
      });
      const transaction$ = ledgerWith(service).executeAndWaitForTransaction(signedRequest, { recover: false });
      const both = [observe(transaction$), observe(transaction$)];
      flush();
      const submission = { beginExclusive: 10, sentAt: 1_000 };
      expect(both.map(({ error }) => error)).toMatchObject([{ submission }, { submission }]);
    });
  });

  it('is not reported as uncommitted by one without a connection while the other is being processed', () => {
    marbles(({ flush }) => {
      const participant = new VirtualParticipant({
        ...calm,
        commitMs: [3_000],
        faults: [{ kind: 'answered', how: 'back-pressure' }, null, { kind: 'refused' }],
      });
      const { port } = scriptedService(participant.reply);
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port });
      const transaction$ = ledger.executeAndWaitForTransaction(signedRequest);
      const both = [observe(transaction$), observe(transaction$)];
      flush();
      expect(both.map(({ values }) => values[0]?.offset)).toEqual([11, 11]);
    });
  });

  it('is committed once when the token of the first is refused and replaced late', () => {
    marbles(({ flush }) => {
      const participant = new VirtualParticipant({ ...calm, faults: [{ kind: 'answered', how: 'unauthorized' }] });
      const { port } = scriptedService(participant.reply);
      let tokens = 0;
      // two for the ledger end, two for the attempts, and one after the refusal
      const token = (): Observable<string> => {
        tokens += 1;
        return of(`token-${tokens}`).pipe(delay(tokens > 4 ? 5_000 : 0));
      };
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port, token });
      const transaction$ = ledger.executeAndWaitForTransaction({ ...signedRequest, deduplicationPeriod: seconds(1) });
      const both = [observe(transaction$), observe(transaction$)];
      flush();
      expect(participant.commits).toHaveLength(1);
      expect(both.map(({ values }) => values[0]?.offset)).toEqual([11, 11]);
    });
  });
});

describe('an attempt whose response was lost', () => {
  it.each([
    ['NOT_CONNECTED_TO_SYNCHRONIZER', 9, 400],
    ['LEDGER_API_INTERNAL_ERROR', 4, 500],
  ])('is not reported as uncommitted because the next one certainly failed: %s', (code, category, status) => {
    marbles(({ flush }) => {
      const failure = errorReply(status, errorBody(code, category, { definite_answer: 'true' }));
      const seen = observe(
        ledgerWith(scriptedAttempts(reset, failure, duplicate)).executeAndWaitForTransaction(signedRequest),
      );
      flush();
      expect(seen.error).toBeUndefined();
      expect(seen.values).toMatchObject([{ offset: 11 }]);
    });
  });

  it.each([
    ['NOT_CONNECTED_TO_SYNCHRONIZER', 9, 400],
    ['INVALID_DEDUPLICATION_PERIOD', 9, 400],
    ['CONTRACT_NOT_FOUND', 11, 404],
    ['NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT', 11, 404],
    ['OFFSET_AFTER_LEDGER_END', 12, 400],
  ])('is not reported as uncommitted because of the current state of the participant: %s', (...error) => {
    const [code, category, status] = error;
    marbles(({ flush }) => {
      const service = scriptedAttempts(reset, errorReply(status, errorBody(code, category)), duplicate);
      const seen = observe(ledgerWith(service).executeAndWaitForTransaction(signedRequest));
      flush();
      expect(seen.error).toBeUndefined();
      expect(seen.values).toMatchObject([{ offset: 11 }]);
    });
  });
});

describe('reading a committed transaction', () => {
  it('tries the path of single updates again when the feed cannot be read', () => {
    marbles(({ flush }) => {
      let reads = 0;
      const service = scriptedService(({ path }) => {
        if (path === executePath) return [duplicate];
        if (path !== byOffsetPath) return [errorReply(503, 'no')];
        reads += 1;
        return [reads === 1 ? notFound : ok(transaction(11))];
      });
      const seen = observe(ledgerWith(service).executeAndWaitForTransaction(signedRequest));
      flush();
      expect(seen.values).toMatchObject([{ offset: 11 }]);
    });
  });

  it('takes no longer than the time that is left', () => {
    marbles(({ flush }) => {
      let attempts = 0;
      const slowService = scriptedService(({ path }) => {
        if (path === endPath) return [ok({ offset: 10 })];
        if (path === byOffsetPath) return [errorReply(503, 'no')];
        attempts += 1;
        return attempts === 1 ? [reset] : of(duplicate).pipe(delay(8_000));
      });
      const seen = observe(
        ledgerWith(slowService).executeAndWaitForTransaction(signedRequest, { recover: { withinMs: 10_000 } }),
      );
      flush();
      expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', completionOffset: 11 });
      expect(seen.endedAt).toBeLessThanOrEqual(15_000);
    });
  });

  it('takes no longer than the time that is left by a feed', () => {
    marbles(({ flush }) => {
      const feedService = scriptedService(({ path }) => {
        if (path === endPath) return [ok({ offset: 11 })];
        if (path === byOffsetPath) return [notFound];
        return [path === executePath ? duplicate : errorReply(503, 'no')];
      });
      const seen = observe(
        ledgerWith(feedService).executeAndWaitForTransaction(signedRequest, { recover: { withinMs: 10_000 } }),
      );
      flush();
      expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', completionOffset: 11 });
      expect(seen.endedAt).toBeLessThanOrEqual(15_000);
    });
  });
});

describe('the deduplication period of a change that may have been sent before', () => {
  it('covers the first of two concurrent subscriptions', () => {
    marbles(({ flush }) => {
      const participant = new VirtualParticipant(calm);
      let ends = 0;
      const service = scriptedService((request) => {
        if (request.path !== endPath) return participant.reply(request);
        ends += 1;
        return participant.reply(request).pipe(delay(ends === 1 ? 0 : 4_000));
      });
      const transaction$ = ledgerWith(service).executeAndWaitForTransaction({
        ...signedRequest,
        deduplicationPeriod: seconds(1),
      });
      const both = [observe(transaction$), observe(transaction$)];
      flush();
      expect(participant.commits).toHaveLength(1);
      expect(both.map(({ values }) => values[0]?.offset)).toEqual([11, 11]);
    });
  });

  it('reaches back from when the request is sent, also if its token is slow', () => {
    marbles(({ flush }) => {
      const participant = new VirtualParticipant({
        ...calm,
        faults: [
          { kind: 'lost', isReceived: true, how: 'reset', afterMs: 100 },
          { kind: 'answered', how: 'unauthorized' },
        ],
      });
      let tokens = 0;
      // those of the ledger end and the first attempt are immediate
      const token = (): Observable<string> => {
        tokens += 1;
        return of(`token-${tokens}`).pipe(delay(tokens > 2 ? 25_000 : 0));
      };
      const service = scriptedService(participant.reply);
      const seen = observe(
        ledgerWith(service, { token }).executeAndWaitForTransaction({
          ...signedRequest,
          deduplicationPeriod: seconds(40),
        }),
      );
      flush();
      expect(participant.commits).toHaveLength(1);
      expect(seen.values).toMatchObject([{ offset: 11 }]);
    });
  });

  it('reaches back from when the request arrives, also if it is slow', () => {
    marbles(({ flush }) => {
      const participant = new VirtualParticipant({
        ...calm,
        faults: [
          { kind: 'lost', isReceived: true, how: 'reset', afterMs: 100 },
          { kind: 'held', ms: 10_000 },
        ],
      });
      const service = scriptedService(participant.reply);
      const seen = observe(
        ledgerWith(service).executeAndWaitForTransaction({ ...signedRequest, deduplicationPeriod: seconds(5) }),
      );
      flush();
      expect(participant.commits).toHaveLength(1);
      expect(seen.values).toMatchObject([{ offset: 11 }]);
    });
  });

  it('is never shorter than that of the caller, since another process may have sent the change before', () => {
    marbles(({ flush }) => {
      const service = scriptedAttempts(reset, duplicate);
      const deduplicationPeriod = seconds(20);
      observe(ledgerWith(service).executeAndWaitForTransaction({ ...signedRequest, deduplicationPeriod }));
      flush();
      const [, second] = service.requests.filter(({ path }) => path === executePath);
      // the offset is less than 20 seconds old
      expect(second?.body['deduplicationPeriod']).not.toEqual({ DeduplicationOffset: { value: 10 } });
    });
  });
});
