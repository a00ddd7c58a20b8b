import { describe, expect, it } from '@jest/globals';
import { delay, NEVER, of, type Observable } from 'rxjs';
import { createLedger, type DeduplicationPeriod, type LedgerOptions } from '../../src/index.js';
import { marbles } from '../helpers/marbles.js';
import { observe } from '../helpers/observe.js';
import { canton, failed, notFound, ok, scripted, type Reply, type Scripted } from '../helpers/scripted.js';
import { byOffsetPath, endPath, executePath, VirtualParticipant } from '../helpers/virtualSubmission.js';
import { transaction } from '../helpers/wire.js';
import { committedAnswer } from './committedAnswer.js';
import { calm } from './recovery/Schedule.js';
import { signedRequest } from './signedRequest.js';

const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const seconds = (value: number): DeduplicationPeriod => ({
  DeduplicationDuration: { value: { seconds: value, nanos: 0 } },
});

/** A service that answers the tries in turn, the last over and over. */
const answering = (...replies: readonly (Reply | undefined)[]): Scripted => {
  let tries = 0;
  return scripted(({ path }) => {
    if (path === endPath) return [ok({ offset: 10 })];
    if (path === byOffsetPath) return [ok(transaction(11))];
    tries += 1;
    const reply = replies[Math.min(tries, replies.length) - 1];
    return reply === undefined ? NEVER : [reply];
  });
};

const ledgerOf = ({ port }: Scripted, options: Partial<LedgerOptions> = {}): ReturnType<typeof createLedger> =>
  createLedger({ baseUrl: 'http://ledger.example', port, ...options });

const duplicate = failed(409, canton('DUPLICATE_COMMAND', 10, { completion_offset: '11' }));

describe('a change whose first subscription ended without an answer', () => {
  it.each<[string, Reply]>([
    ['that cannot be connected to', refused],
    ['whose gateway does not know the path', notFound],
    ['that is overloaded', failed(409, canton('PARTICIPANT_BACKPRESSURE', 2))],
  ])('is not told to be uncommitted by a second one, of a service %s', (_, reply) => {
    marbles(({ flush }) => {
      const transaction$ = ledgerOf(answering(reset, reply)).executeAndWaitForTransaction(signedRequest, {
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

describe('a change of two subscriptions', () => {
  it.each<[string, Reply]>([
    ['cannot be connected to', refused],
    ['does not know the path any more', notFound],
  ])('is not told to be uncommitted by the second, after the first had it, of a service that %s', (_, reply) => {
    marbles(({ flush }) => {
      const service = answering(committedAnswer(11), reply);
      const transaction$ = ledgerOf(service).executeAndWaitForTransaction(signedRequest, {
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

  it('is to be looked for from the earlier of both on', () => {
    marbles(({ flush }) => {
      let ends = 0;
      const service = scripted(({ path }) => {
        if (path !== endPath) return [reset];
        ends += 1;
        return of(ok({ offset: 10 * ends })).pipe(delay(ends * 1_000));
      });
      const transaction$ = ledgerOf(service).executeAndWaitForTransaction(signedRequest, { recover: false });
      const both = [observe(transaction$), observe(transaction$)];
      flush();
      const submission = { beginExclusive: 10, sentAt: 1_000 };
      expect(both.map(({ error }) => error)).toMatchObject([{ submission }, { submission }]);
    });
  });

  it('is not told to be uncommitted by one that met no connection, while the other is on its way', () => {
    marbles(({ flush }) => {
      const participant = new VirtualParticipant({
        ...calm,
        commitMs: [3_000],
        faults: [{ kind: 'answered', how: 'back-pressure' }, null, { kind: 'refused' }],
      });
      const { port } = scripted(participant.answer);
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port });
      const transaction$ = ledger.executeAndWaitForTransaction(signedRequest);
      const both = [observe(transaction$), observe(transaction$)];
      flush();
      expect(both.map(({ values }) => values[0]?.offset)).toEqual([11, 11]);
    });
  });

  it('is committed once where the first is refused its token and gets another late', () => {
    marbles(({ flush }) => {
      const participant = new VirtualParticipant({ ...calm, faults: [{ kind: 'answered', how: 'unauthorized' }] });
      const { port } = scripted(participant.answer);
      let tokens = 0;
      // two for the ledger end, two for the tries, and the one after the refusal
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

describe('a try whose answer was lost', () => {
  it.each([
    ['NOT_CONNECTED_TO_SYNCHRONIZER', 9, 400],
    ['LEDGER_API_INTERNAL_ERROR', 4, 500],
  ])('is not told to be uncommitted since the next one has certainly failed: %s', (code, category, status) => {
    marbles(({ flush }) => {
      const failure = failed(status, canton(code, category, { definite_answer: 'true' }));
      const seen = observe(ledgerOf(answering(reset, failure, duplicate)).executeAndWaitForTransaction(signedRequest));
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
  ])('is not told to be uncommitted for the state in which the next one finds the participant: %s', (...error) => {
    const [code, category, status] = error;
    marbles(({ flush }) => {
      const service = answering(reset, failed(status, canton(code, category)), duplicate);
      const seen = observe(ledgerOf(service).executeAndWaitForTransaction(signedRequest));
      flush();
      expect(seen.error).toBeUndefined();
      expect(seen.values).toMatchObject([{ offset: 11 }]);
    });
  });
});

describe('reading a committed transaction back', () => {
  it('goes back from a feed that cannot be read: the path of single updates was gone for a moment', () => {
    marbles(({ flush }) => {
      let reads = 0;
      const service = scripted(({ path }) => {
        if (path === executePath) return [duplicate];
        if (path !== byOffsetPath) return [failed(503, 'no')];
        reads += 1;
        return [reads === 1 ? notFound : ok(transaction(11))];
      });
      const seen = observe(ledgerOf(service).executeAndWaitForTransaction(signedRequest));
      flush();
      expect(seen.values).toMatchObject([{ offset: 11 }]);
    });
  });

  it('takes no longer than is left of the time', () => {
    marbles(({ flush }) => {
      let tries = 0;
      const late = scripted(({ path }) => {
        if (path === endPath) return [ok({ offset: 10 })];
        if (path === byOffsetPath) return [failed(503, 'no')];
        tries += 1;
        return tries === 1 ? [reset] : of(duplicate).pipe(delay(8_000));
      });
      const seen = observe(
        ledgerOf(late).executeAndWaitForTransaction(signedRequest, { recover: { withinMs: 10_000 } }),
      );
      flush();
      expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', completionOffset: 11 });
      expect(seen.endedAt).toBeLessThanOrEqual(15_000);
    });
  });

  it('takes no longer through a feed', () => {
    marbles(({ flush }) => {
      const feeds = scripted(({ path }) => {
        if (path === endPath) return [ok({ offset: 11 })];
        if (path === byOffsetPath) return [notFound];
        return [path === executePath ? duplicate : failed(503, 'no')];
      });
      const seen = observe(
        ledgerOf(feeds).executeAndWaitForTransaction(signedRequest, { recover: { withinMs: 10_000 } }),
      );
      flush();
      expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', completionOffset: 11 });
      expect(seen.endedAt).toBeLessThanOrEqual(15_000);
    });
  });
});

describe('the period of a change that may have been sent before', () => {
  it('covers the first of two subscriptions at a time, whose ledger end came first', () => {
    marbles(({ flush }) => {
      const participant = new VirtualParticipant(calm);
      let ends = 0;
      const service = scripted((asked) => {
        if (asked.path !== endPath) return participant.answer(asked);
        ends += 1;
        return participant.answer(asked).pipe(delay(ends === 1 ? 0 : 4_000));
      });
      const transaction$ = ledgerOf(service).executeAndWaitForTransaction({
        ...signedRequest,
        deduplicationPeriod: seconds(1),
      });
      const both = [observe(transaction$), observe(transaction$)];
      flush();
      expect(participant.commits).toHaveLength(1);
      expect(both.map(({ values }) => values[0]?.offset)).toEqual([11, 11]);
    });
  });

  it('reaches back from when the request leaves at last: a token may take its time', () => {
    marbles(({ flush }) => {
      const participant = new VirtualParticipant({
        ...calm,
        faults: [
          { kind: 'lost', isReceived: true, how: 'reset', afterMs: 100 },
          { kind: 'answered', how: 'unauthorized' },
        ],
      });
      let tokens = 0;
      // the ledger end and the first try have theirs at once
      const token = (): Observable<string> => {
        tokens += 1;
        return of(`token-${tokens}`).pipe(delay(tokens > 2 ? 25_000 : 0));
      };
      const service = scripted(participant.answer);
      const seen = observe(
        ledgerOf(service, { token }).executeAndWaitForTransaction({
          ...signedRequest,
          deduplicationPeriod: seconds(40),
        }),
      );
      flush();
      expect(participant.commits).toHaveLength(1);
      expect(seen.values).toMatchObject([{ offset: 11 }]);
    });
  });

  it('reaches back from when the request arrives at last: it may be long on its way', () => {
    marbles(({ flush }) => {
      const participant = new VirtualParticipant({
        ...calm,
        faults: [
          { kind: 'lost', isReceived: true, how: 'reset', afterMs: 100 },
          { kind: 'held', ms: 10_000 },
        ],
      });
      const service = scripted(participant.answer);
      const seen = observe(
        ledgerOf(service).executeAndWaitForTransaction({ ...signedRequest, deduplicationPeriod: seconds(5) }),
      );
      flush();
      expect(participant.commits).toHaveLength(1);
      expect(seen.values).toMatchObject([{ offset: 11 }]);
    });
  });

  it('is never shorter than the caller wishes: another process may have sent the change before', () => {
    marbles(({ flush }) => {
      const service = answering(reset, duplicate);
      const wish = seconds(20);
      observe(ledgerOf(service).executeAndWaitForTransaction({ ...signedRequest, deduplicationPeriod: wish }));
      flush();
      const [, again] = service.asked.filter(({ path }) => path === executePath);
      // a moment after the first try, that is less than the caller's 20 seconds
      expect(again?.body['deduplicationPeriod']).not.toEqual({ DeduplicationOffset: { value: 10 } });
    });
  });
});
