import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { catchError, concat, concatMap, defer, EMPTY, ignoreElements, type Observable, throwError } from 'rxjs';
import {
  type CommandsRequest,
  createLedger,
  type HttpPort,
  type HttpRequest,
  type HttpResponse,
  isLedgerError,
  type Ledger,
  type Transaction,
} from '../../src/index.js';
import { createSandbox, type Sandbox } from '../../src/sandbox/index.js';
import { effort } from '../helpers/effort.js';
import { observe, type Observed } from '../helpers/observe.js';
import { later, runVirtually } from '../helpers/virtualTime.js';
import { submitPath } from '../helpers/CommandService.js';

// A participant that is restored from a backup between two attempts of a command.

/** What happens between the attempts. */
interface Restore {
  readonly seed: number;
  /** The number of updates before the command, and of those that its party sees, which are before the others. */
  readonly before: number;
  readonly own: number;
  /** The number of updates of others that its party sees, on all synchronizers, after the ledger has submitted something. */
  readonly seen: number;
  /** How much of the ledger the backup has, as a part of it. */
  readonly backup: number;
  readonly offsets: 'other' | 'same';
  /** How many updates the participant reads again at once, by default all. It reads the others a minute later. */
  readonly atOnce?: number;
  /** How long the participant is not reachable, in milliseconds. */
  readonly downMs: number;
  /** Whether the first attempt is committed before its answer is lost. */
  readonly isCommitted: boolean;
  /** Whether the same process sends it again, another one, or both. */
  readonly sender: 'same' | 'laterCall' | 'otherProcess';
  /** Whether the ledger has submitted something before. */
  readonly isWarm: boolean;
}

const restores: fc.Arbitrary<Restore> = fc.record({
  seed: fc.nat(999),
  before: fc.integer({ min: 0, max: 30 }),
  own: fc.nat(3),
  seen: fc.nat(3),
  backup: fc.double({ min: 0, max: 1, noNaN: true }),
  offsets: fc.constantFrom('other', 'other', 'same'),
  downMs: fc.constantFrom(10_000, 30_000, 100_000),
  isCommitted: fc.boolean(),
  sender: fc.constantFrom('same', 'laterCall', 'otherProcess'),
  isWarm: fc.boolean(),
});

const commandId = 'payment-4711';
const lost = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

/** A port of a sandbox whose first answer to the command is lost, because the participant is restored. */
function portOf(sandbox: Sandbox, { backup, offsets, atOnce, downMs, isCommitted, sender }: Restore): HttpPort {
  // a new call names no start, so that only the participant knows of the first one
  const forgetsCommands = sender !== 'laterCall';
  let isRestored = false;
  let isDown = false;
  const restore = (): Observable<never> => {
    isRestored = true;
    isDown = true;
    const end = Math.floor(backup * (sandbox.ledgerEnd - (isCommitted ? 1 : 0)));
    later(downMs, () => {
      sandbox.pause();
      sandbox.restore(end, { readAgain: true, offsets, forgetsCommands });
      sandbox.resume(atOnce);
      later(60_000, () => {
        sandbox.resume();
      });
      isDown = false;
    });
    return throwError(() => lost);
  };
  return (request: HttpRequest): Observable<HttpResponse> =>
    defer(() => {
      if (isDown) return throwError(() => lost);
      const isFirst = !isRestored && request.url.endsWith(submitPath) && (request.body ?? '').includes(commandId);
      if (!isFirst) return sandbox.port(request);
      return isCommitted ? sandbox.port(request).pipe(concatMap(restore)) : restore();
    });
}

/** The outcome of a command, and how often the ledger has committed it. */
interface Outcome {
  readonly seen: Observed<Transaction>;
  readonly commits: readonly number[];
}

/** Submits the command until its outcome is known, or is said to be unknown. */
function submit(plan: Restore): Outcome {
  const sandbox = createSandbox();
  const alice = sandbox.hostedParty('alice');
  const createArguments = { owner: alice, amount: '10.0', tag: null, serial: '1' };
  const request: CommandsRequest = {
    commandId,
    userId: 'app',
    actAs: [alice],
    commands: [{ CreateCommand: { templateId: '#sandbox-assets:Main:Asset', createArguments } }],
  };
  const port = portOf(sandbox, plan);
  const ledgerOf = () => createLedger({ baseUrl: 'http://ledger.example', port });
  const ledger = ledgerOf();
  const commit = (by: Ledger, id: string): Observable<Transaction> =>
    by.submitAndWaitForTransaction({ ...request, commandId: id });
  const own$ = concat(...Array.from({ length: plan.own }, (_, index) => commit(ledgerOf(), `own-${index}`)));
  const others$ = defer(() => [sandbox.generate(plan.before, { seed: plan.seed })]);
  const warmUp = (id: string) => (plan.isWarm ? commit(ledger, id) : EMPTY);
  const first$ = ledger.submitAndWaitForTransaction(request, plan.sender === 'same' ? {} : { recover: false });
  const again = (error: unknown): Observable<Transaction> => {
    if (plan.sender === 'same' || !isLedgerError(error, 'OutcomeUnknownError')) throw error;
    const { position, since = 0 } = error.submission;
    return plan.sender === 'laterCall'
      ? ledger.submitAndWaitForTransaction(request)
      : ledgerOf().submitAndWaitForTransaction(request, { since: position ?? since });
  };
  const seen$ = defer(() =>
    Array.from({ length: plan.seen }, (_, index) => {
      const synchronizerId = sandbox.synchronizers[index % 2] ?? '';
      const events = [{ CreatedEvent: { signatories: [alice], witnessParties: [alice] } }];
      return sandbox.append({ Transaction: { value: { synchronizerId, events } } });
    }),
  );
  const prepared$ = concat(own$, others$, seen$, warmUp('one'), seen$, warmUp('two')).pipe(ignoreElements());
  const seen = observe(concat(prepared$, first$.pipe(catchError(again))));
  return {
    seen,
    get commits() {
      return sandbox.updates.flatMap((update) =>
        'Transaction' in update && update.Transaction.value.commandId === commandId
          ? [update.Transaction.value.offset]
          : [],
      );
    },
  };
}

/** Runs it to the end of all that it started. */
function play(plan: Restore): Outcome {
  const outcomes: Outcome[] = [];
  runVirtually(() => {
    outcomes.push(submit(plan));
  });
  const [outcome] = outcomes;
  if (outcome === undefined) throw new Error('nothing was submitted');
  return outcome;
}

describe('a command whose participant is restored from a backup before its answer', () => {
  it('is not sent again while the participant does not show it, and has moved what was before it (G61)', () => {
    const own = 2;
    const { seen, commits } = play({
      ...{ seed: 1, before: 3, own, seen: 0, backup: 0, offsets: 'other', atOnce: 3 + own, downMs: 10_000 },
      ...{ isCommitted: true, sender: 'same', isWarm: false },
    });
    expect(commits).toHaveLength(1);
    expect(seen.error).toMatchObject({
      _tag: 'OutcomeUnknownError',
      lastError: { _tag: 'LedgerResetError', difference: expect.stringContaining('restored from a backup') },
    });
  });

  it('is committed once at most, and found or reported as unknown (G62)', () => {
    fc.assert(
      fc.property(restores, (plan) => {
        const { seen, commits } = play(plan);
        expect(commits.length).toBeLessThanOrEqual(1);
        const [committed] = seen.values;
        // what has not moved is found
        if (plan.offsets === 'same') expect(committed).toBeDefined();
        if (committed === undefined) expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError' });
        else expect(commits).toEqual([committed.offset]);
      }),
      { numRuns: effort(60, 2_000) },
    );
  });
});
