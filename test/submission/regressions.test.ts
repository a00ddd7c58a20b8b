import { describe, expect, it } from '@jest/globals';
import { delay, NEVER, of } from 'rxjs';
import { createLedger, type LedgerOptions } from '../../src/index.js';
import { observe } from '../helpers/observe.js';
import { scriptedService, type Reply, type ScriptedService } from '../helpers/scripted.js';
import { transaction, errorBody, errorReply, notFound, ok } from '../helpers/wire.js';
import { marbles } from '../helpers/time.js';
import { byOffsetPath, endPath, executePath } from '../helpers/submissionPlan.js';
import { committedAnswer, signedRequest } from './support.js';

const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

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
      const submission = { since: 10, sentAt: 1_000 };
      expect(both.map(({ error }) => error)).toMatchObject([{ submission }, { submission }]);
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
