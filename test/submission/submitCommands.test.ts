import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, map, repeat, retry, take, timeout } from 'rxjs';
import { createLedger, type CommandsRequest, type CommandsOptions, type Ledger } from '../../src/index.js';
import { observe, type Observed } from '../helpers/observe.js';
import { scriptedService, type ScriptedService } from '../helpers/scripted.js';
import { marbles } from '../helpers/time.js';
import { type CommandFault, submitPath } from '../helpers/CommandService.js';
import { type CommandPlan, contractId, VirtualCommands } from '../helpers/virtualCommands.js';
import { checkpoint, errorBody, errorReply } from '../helpers/wire.js';

// a sum of random delays is not exact
beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const create: CommandsRequest = {
  actAs: ['alice::1220'],
  userId: 'me',
  commandId: 'order-1',
  commands: [{ CreateCommand: { templateId: '#p:M:T', createArguments: {} } }],
};

const exercise: CommandsRequest = {
  ...create,
  commands: [{ ExerciseCommand: { templateId: '#p:M:T', contractId, choice: 'Act', choiceArgument: {} } }],
};

interface Run {
  readonly node: VirtualCommands;
  readonly service: ScriptedService;
  readonly ledger: Ledger;
  readonly submit: (request?: CommandsRequest, options?: CommandsOptions) => Observed<unknown>;
  /** Runs a step after a time. */
  readonly at: (ms: number, step: () => void) => void;
}

/** Runs a test in virtual time, against a participant with these faults. Checks after `flush`. */
function run(
  plan: Partial<CommandPlan> & { readonly faults?: readonly CommandFault[] },
  test: (run: Run) => () => void,
) {
  marbles(({ flush }) => {
    const node = new VirtualCommands({
      kind: 'create',
      latencyMs: 10,
      hasCheckpoints: true,
      completions: 'completions',
      faults: [],
      ...plan,
    });
    const service = scriptedService(node.reply);
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
    const check = test({
      node,
      service,
      ledger,
      submit: (request = create, options) => observe(ledger.submitAndWaitForTransaction(request, options)),
      at: (ms, step) => {
        asyncScheduler.schedule(step, ms);
      },
    });
    flush();
    check();
  });
}

const lost = { kind: 'lostResponse', how: 'reset', afterMs: 100 } as const satisfies CommandFault;
const lostRequest: CommandFault = { kind: 'lostRequest', how: 'reset' };
const commandsOf = ({ attempts }: VirtualCommands) =>
  attempts.map(({ commands }) => commands as Readonly<Record<string, unknown>>);

describe('an attempt', () => {
  it('covers all attempts by a deduplication offset from before the first, never by the default period', () => {
    for (const deduplicationPeriod of [undefined, null, { Empty: {} as Record<string, never> }])
      run({ faults: [lost] }, ({ node, submit }) => {
        const seen = submit({ ...create, deduplicationPeriod });
        return () => {
          expect(seen.completed).toBe(true);
          expect(commandsOf(node).map((commands) => commands['deduplicationPeriod'])).toEqual([
            { DeduplicationOffset: { value: 10 } },
            { DeduplicationOffset: { value: 10 } },
          ]);
        };
      });
  });

  it('keeps command id, user and parties, and has a submission id of its own', () => {
    run({ faults: [lostRequest, lostRequest] }, ({ node, submit }) => {
      submit();
      return () => {
        const all = commandsOf(node);
        expect(
          new Set(all.map(({ commandId, userId, actAs }) => JSON.stringify([commandId, userId, actAs]))).size,
        ).toBe(1);
        expect(new Set(all.map(({ submissionId }) => submissionId)).size).toBe(3);
      };
    });
  });

  it('has all fields of the request, and the format beside them', () => {
    const disclosed = { contractId: '00ab', templateId: '#p:M:T', createdEventBlob: 'AAAA', synchronizerId: 's::1220' };
    const fields = {
      ...create,
      readAs: ['bob::1220'],
      workflowId: 'workflow',
      minLedgerTimeAbs: '2026-07-24T10:00:00Z',
      disclosedContracts: [disclosed],
      synchronizerId: 's::1220',
      packageIdSelectionPreference: ['ab'],
      prefetchContractKeys: [{ templateId: '#p:M:T', contractKey: { k: '1' }, limit: 2 }],
      tapsMaxPasses: 2,
    };
    const transactionFormat = {
      eventFormat: { filtersByParty: {}, verbose: true },
      transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS' as const,
    };
    run({}, ({ node, submit }) => {
      submit({ ...fields, transactionFormat });
      return () => {
        expect(node.attempts).toMatchObject([{ commands: fields, transactionFormat }]);
      };
    });
  });

  it('takes one request, but for the first of a ledger', () => {
    run({}, ({ service, ledger }) => {
      const seen = observe(ledger.submitAndWaitForTransaction({ ...create, commandId: null }).pipe(repeat(4)));
      return () => {
        expect(seen.values).toHaveLength(4);
        expect(service.requests.map(({ path }) => path).sort()).toEqual([
          ...Array.from({ length: 4 }, () => submitPath),
          '/v2/parties/participant-id',
          '/v2/state/ledger-end',
        ]);
      };
    });
  });

  it('discloses the contracts of its commands only if an earlier one may have archived them', () => {
    run({ kind: 'consume', faults: [lost] }, ({ node, submit }) => {
      const seen = submit(exercise);
      return () => {
        expect(commandsOf(node).map(({ disclosedContracts }) => disclosedContracts)).toEqual([
          [],
          [{ contractId, templateId: 'p:M:T', createdEventBlob: 'AAAA', synchronizerId: '' }],
        ]);
        expect(seen.values).toMatchObject([{ offset: 11, isRepeated: true }]);
      };
    });
  });

  it('requests names in a format only once, because an error about them is the same before and after the commit', () => {
    const filters = { cumulative: [{ identifierFilter: { TemplateFilter: { value: { templateId: '#q:M:T' } } } }] };
    const transactionFormat = {
      eventFormat: { filtersByParty: { 'alice::1220': filters } },
      transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' as const,
    };
    run({}, ({ node }) => {
      const unnamed = errorReply(404, errorBody('PACKAGE_NAMES_NOT_FOUND', 11));
      const service = scriptedService((request, count) => {
        // the participant does not find the names, before or after the commit
        const isNamed = request.path === '/v2/updates/update-by-offset' && JSON.stringify(request.body).includes('#q');
        return count === 3 || isNamed ? [unnamed] : node.reply(request);
      });
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      const seen = observe(ledger.submitAndWaitForTransaction({ ...create, transactionFormat }));
      return () => {
        const attempts = service.requests.filter(({ path }) => path === submitPath);
        expect(attempts.map(({ body }) => 'transactionFormat' in body)).toEqual([true, false]);
        expect(seen.values).toMatchObject([{ offset: 11, events: [] }]);
      };
    });
  });
});

describe('an attempt whose response is lost', () => {
  it.each<CommandFault>([
    { kind: 'lostResponse', how: 'reset', afterMs: 0 },
    { kind: 'lostResponse', how: 'silence', afterMs: 0 },
    { kind: 'lostResponse', how: '503', afterMs: 0 },
    { kind: 'lostResponse', how: '502', afterMs: 0 },
    { kind: 'lostResponse', how: 'garbled', afterMs: 0 },
    { kind: 'failedAfterCommit', code: 'UPDATE_NOT_FOUND' },
    { kind: 'failedAfterCommit', code: 'INDEX_DB_SQL_TRANSIENT_ERROR' },
    { kind: 'failedAfterCommit', code: 'NA' },
    { kind: 'slow', ms: 60_000 },
  ])('is found by the next one: %o (G60)', (fault) => {
    run({ faults: [fault] }, ({ node, submit }) => {
      const seen = submit();
      return () => {
        expect(node.commits).toHaveLength(1);
        expect(seen).toMatchObject({ completed: true, values: [{ offset: 11, isRepeated: true }] });
      };
    });
  });

  it('is followed by others until one is sent', () => {
    run({ faults: [lostRequest, { kind: 'refusedConnection' }] }, ({ node, submit }) => {
      const seen = submit();
      return () => {
        expect(node.attempts).toHaveLength(3);
        expect(seen.values).toMatchObject([{ offset: 11 }]);
        expect(seen.endedAt).toBeLessThan(10_000);
      };
    });
  });

  it('is not taken for a failure when its contract is gone: the archival shows that it was committed (G60)', () => {
    run({ kind: 'consume', faults: [lost] }, ({ node, submit }) => {
      const seen = submit(exercise);
      // pruned blobs cannot be disclosed, but the archival is still there
      node.isBlobPruned = true;
      return () => {
        expect(seen.values).toMatchObject([{ offset: 11, isRepeated: true }]);
        expect(node.attempts).toHaveLength(2);
      };
    });
  });

  it('was not committed if another transaction has archived its contract, which is known at once', () => {
    run(
      { kind: 'consume', hasCheckpoints: false, faults: [lostRequest, { kind: 'refused', code: 'DAML_FAILURE' }] },
      ({ node, submit, at }) => {
        const seen = submit(exercise);
        at(50, () => {
          node.archive();
        });
        return () => {
          expect(node.commits).toEqual([]);
          expect(seen.endedAt).toBeLessThan(10_000);
          expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', reason: 'refusal' });
        };
      },
    );
  });

  it('is not found in the transaction of another user with the same command id', () => {
    run({ faults: [lostRequest, { kind: 'refused', code: 'DAML_FAILURE' }] }, ({ node, submit, at }) => {
      const seen = submit();
      at(50, () => {
        node.appendOther('order-1');
      });
      return () => {
        expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', reason: 'refusal' });
        // not before the synchronizer no longer accepts the first attempt
        expect(seen.endedAt).toBeGreaterThan(130_000);
      };
    });
  });

  it('is not found in an automatic reassignment with the same command id', () => {
    run({ faults: [lostRequest, { kind: 'refused', code: 'DAML_FAILURE' }] }, ({ node, submit, at }) => {
      const seen = submit();
      at(50, () => {
        node.reassign('order-1');
      });
      return () => {
        expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError' });
      };
    });
  });

  it('is not found in the transaction of other parties with the same command id and user', () => {
    run({ faults: [lostRequest, { kind: 'refused', code: 'DAML_FAILURE' }] }, ({ node, submit, at }) => {
      const seen = submit({ ...create, actAs: ['alice::1220', 'bob::1220'] });
      at(50, () => {
        node.appendOther('order-1', { userId: 'me', actAs: ['alice::1220'] });
      });
      return () => {
        expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', reason: 'refusal' });
      };
    });
  });

  it.each([create, { ...create, commandId: undefined }])(
    'is not taken for a failure if its transaction cannot be decoded: $commandId',
    (request) => {
      run({ faults: [lost, { kind: 'refused', code: 'DAML_FAILURE' }] }, ({ node, submit }) => {
        node.isUndecodable = true;
        const seen = submit(request);
        return () => {
          expect(node.commits).toHaveLength(1);
          expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', completionOffset: 11 });
        };
      });
    },
  );

  it('was not committed if its contract was archived before the first attempt', () => {
    const faults: CommandFault[] = [lostRequest, { kind: 'refused', code: 'DAML_FAILURE' }];
    run({ kind: 'consume', hasCheckpoints: false, faults }, ({ node, submit }) => {
      node.archive();
      node.appendOther('');
      const seen = submit(exercise);
      return () => {
        expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', reason: 'refusal' });
        expect(seen.endedAt).toBeLessThan(10_000);
      };
    });
  });

  it.each([
    { minLedgerTimeRel: { seconds: 170 } },
    // the record time of the virtual ledger begins at midnight
    { minLedgerTimeAbs: '2026-07-24T00:02:50Z' },
  ])('is not given up before its earliest ledger time, for which the participant holds it: %o', (times) => {
    const faults: CommandFault[] = [
      { kind: 'held', ms: 170_000 },
      { kind: 'refused', code: 'DAML_AUTHORIZATION_ERROR' },
    ];
    run({ faults }, ({ node, submit }) => {
      const seen = submit({ ...create, ...times });
      return () => {
        expect(node.commits).toHaveLength(1);
        expect(seen.values).toMatchObject([{ offset: 11, isRepeated: true }]);
      };
    });
  });

  it.each([
    ['create', 258],
    ['consume', 270],
  ] as const)('is found despite an outage while it is being settled: %s', (kind, downAt) => {
    run({ kind, faults: [lost, { kind: 'refused', code: 'DAML_FAILURE' }] }, ({ node, submit, at }) => {
      const seen = submit(kind === 'create' ? create : exercise);
      // the second attempt is refused just before that
      at(downAt, () => {
        node.goDown(20_000);
      });
      return () => {
        expect(node.attempts).toHaveLength(2);
        expect(seen.values).toMatchObject([{ offset: 11, isRepeated: true }]);
        expect(seen.endedAt).toBeGreaterThan(20_000);
      };
    });
  });

  it('is looked for once more when the time is over, if the participant still refuses the next ones', () => {
    const busy = Array.from({ length: 999 }, (): CommandFault => ({
      kind: 'refused',
      code: 'PARTICIPANT_BACKPRESSURE',
    }));
    run({ faults: [lost, ...busy] }, ({ submit }) => {
      const seen = submit(create, { recover: { withinMs: 10_000 } });
      return () => {
        expect(seen.values).toMatchObject([{ offset: 11, isRepeated: true }]);
      };
    });
  });

  it('is found if it is committed while a refusal of the next one is being settled', () => {
    const faults: CommandFault[] = [
      { kind: 'slow', ms: 90_000 },
      { kind: 'refused', code: 'UNKNOWN_INFORMEES' },
    ];
    run({ faults }, ({ submit }) => {
      const seen = submit();
      return () => {
        expect(seen.values).toMatchObject([{ offset: 11, isRepeated: true }]);
      };
    });
  });

  it('is not given up because of a checkpoint from before the refusal of the next one', () => {
    const faults: CommandFault[] = [
      { kind: 'slow', ms: 90_000 },
      { kind: 'refused', code: 'UNKNOWN_INFORMEES' },
    ];
    run({ faults }, ({ node, submit, at }) => {
      const seen = submit();
      at(50, () => {
        node.ledger.append(11, checkpoint(11, '2026-07-23T00:00:00Z'));
        node.appendOther('');
      });
      return () => {
        expect(seen.values).toMatchObject([{ offset: 13, isRepeated: true }]);
      };
    });
  });

  it('is decided by the rejection of the next one, which was registered', () => {
    const faults: CommandFault[] = [
      lostRequest,
      { kind: 'rejected', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', afterMs: 10 },
    ];
    run({ faults }, ({ node, submit }) => {
      const seen = submit();
      return () => {
        expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', reason: 'traffic' });
        expect(node.attempts).toHaveLength(2);
        expect(seen.endedAt).toBeLessThan(1_000);
      };
    });
  });

  it('is unknown if its deduplication data are pruned: the next one does not begin later (G61)', () => {
    run({ faults: [lost] }, ({ node, submit, at }) => {
      const seen = submit();
      at(50, () => {
        node.appendOther('');
        node.ledger.pruned = node.ledger.end;
      });
      return () => {
        expect(node.commits).toHaveLength(1);
        expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', lastError: { _tag: 'PrunedError' } });
      };
    });
  });

  it.each([
    ['of another participant', 40, 'other::1220'],
    ['that ends before it', 5, 'participant::1220'],
  ] as const)('is not sent to another ledger in the place of the first (G61): %s', (_, end, participantId) => {
    run({ faults: [lost] }, ({ node, submit, at }) => {
      const seen = submit();
      at(50, () => {
        node.ledger.replace([], end, participantId);
      });
      return () => {
        expect(node.attempts).toHaveLength(1);
        expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', lastError: { _tag: 'LedgerResetError' } });
      };
    });
  });

  it('is unknown in the end, with what another process needs to continue (G61)', () => {
    run({ faults: Array.from({ length: 999 }, () => lostRequest) }, ({ submit }) => {
      const seen = submit();
      return () => {
        const submission = { commandId: 'order-1', userId: 'me', actAs: ['alice::1220'], since: 10 };
        expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', submission });
        expect(seen.endedAt).toBeGreaterThan(230_000);
      };
    });
  });

  it.each(['reset', '502'] as const)('is unknown at once without recovery: %s', (how) => {
    run({ faults: [{ ...lost, how }] }, ({ node, service, submit }) => {
      const seen = submit(create, { recover: false });
      return () => {
        expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError' });
        expect(node.attempts).toHaveLength(1);
        // with the start of the ledger
        expect(service.requests).toHaveLength(3);
      };
    });
  });
});

describe('a refusal', () => {
  it.each([
    ['DAML_FAILURE', 'refusal'],
    ['DAML_AUTHORIZATION_ERROR', 'authorization'],
    ['NO_SYNCHRONIZER_FOR_SUBMISSION', 'topology'],
    ['PACKAGE_SELECTION_FAILED', 'packages'],
  ] as const)('of a first attempt is final: %s', (code, reason) => {
    run({ faults: [{ kind: 'refused', code }] }, ({ node, submit }) => {
      const seen = submit();
      return () => {
        expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', code, reason, isContention: false });
        expect(node.attempts).toHaveLength(1);
      };
    });
  });

  it('without traffic is not repeated', () => {
    const faults: CommandFault[] = [{ kind: 'rejected', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', afterMs: 0 }];
    run({ faults }, ({ node, submit }) => {
      const seen = submit();
      return () => {
        expect(seen.error).toMatchObject({ reason: 'traffic' });
        expect(node.attempts).toHaveLength(1);
      };
    });
  });

  it('because of load is repeated after a second at the earliest', () => {
    run({ faults: [{ kind: 'refused', code: 'PARTICIPANT_BACKPRESSURE' }] }, ({ submit }) => {
      const seen = submit();
      return () => {
        expect(seen.values).toMatchObject([{ offset: 11 }]);
        expect(seen.values).not.toMatchObject([{ isRepeated: true }]);
        expect(seen.endedAt).toBeGreaterThan(1_000);
      };
    });
  });

  it.each([
    ['LOCAL_VERDICT_LOCKED_CONTRACTS', true],
    // they cost traffic, or may have a cause that stays
    ['MEDIATOR_INVALID_MESSAGE', false],
    ['SEQUENCER_REQUEST_FAILED', false],
  ] as const)('is repeated three times, and then left to the caller: %s', (code, isContention) => {
    const faults = Array.from({ length: 9 }, (): CommandFault => ({ kind: 'rejected', code, afterMs: 10 }));
    run({ kind: 'consume', faults }, ({ node, submit }) => {
      const seen = submit(exercise);
      return () => {
        expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', code, isContention });
        expect(node.attempts).toHaveLength(4);
      };
    });
  });

  it('of a contract that is archived before the first attempt is contention', () => {
    run({ kind: 'consume' }, ({ node, submit }) => {
      node.archive();
      const seen = submit(exercise);
      return () => {
        expect(seen.error).toMatchObject({
          code: 'CONTRACT_NOT_FOUND',
          reason: 'inactiveContract',
          isContention: true,
        });
        expect(node.attempts).toHaveLength(1);
      };
    });
  });

  it('because of a pruned start of the first attempt is followed by a later start', () => {
    run({}, ({ node, ledger, at }) => {
      const seen = observe(
        ledger.submitAndWaitForTransaction({ ...create, commandId: null }).pipe(repeat({ count: 3, delay: 1_000 })),
      );
      at(500, () => {
        node.appendOther('');
        node.ledger.pruned = node.ledger.end;
      });
      return () => {
        expect(seen.values).toMatchObject([{ offset: 11 }, { offset: 13 }, { offset: 14 }]);
        // the third submission begins at the later start
        expect(node.attempts).toHaveLength(4);
      };
    });
  });

  it('because of a pruned start after another refusal is followed by a later start, which a lost response keeps', () => {
    const faults: CommandFault[] = [
      { kind: 'refused', code: 'PARTICIPANT_BACKPRESSURE' },
      { kind: 'slow', ms: 10 },
      { kind: 'lostResponse', how: 'reset', afterMs: 10 },
    ];
    run({ faults }, ({ node, submit, at }) => {
      const seen = submit(create, { recover: { withinMs: 1_500 } });
      at(500, () => {
        node.appendOther('');
        node.ledger.pruned = node.ledger.end;
      });
      at(1_100, () => {
        node.goDown(60_000);
      });
      return () => {
        expect(commandsOf(node).map((commands) => commands['deduplicationPeriod'])).toEqual([
          { DeduplicationOffset: { value: 10 } },
          { DeduplicationOffset: { value: 10 } },
          { DeduplicationOffset: { value: 11 } },
        ]);
        expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', submission: { since: 11 } });
      };
    });
  });

  it('of the connection means that nothing was sent', () => {
    run({ faults: [{ kind: 'refusedConnection' }] }, ({ submit }) => {
      const seen = submit();
      return () => {
        expect(seen.error).toMatchObject({ _tag: 'NotSentError', code: 'ECONNREFUSED' });
      };
    });
  });
});

describe('subscriptions', () => {
  it('without a command id submit a change each, also one after the other as firstValueFrom does', () => {
    run({}, ({ node, ledger }) => {
      const transaction$ = ledger.submitAndWaitForTransaction({ ...create, commandId: undefined }).pipe(take(1));
      const all = [observe(transaction$), observe(transaction$.pipe(repeat(2)))];
      return () => {
        expect(all.map(({ values }) => values.length)).toEqual([1, 2]);
        expect(new Set(node.commits.map(({ change }) => change)).size).toBe(3);
      };
    });
  });

  it('continue an open change, also if the subscription that was to continue it ended at once', () => {
    run({ faults: [lost] }, ({ node, ledger, at }) => {
      const transaction$ = ledger.submitAndWaitForTransaction({ ...create, commandId: undefined }, { recover: false });
      const seen: Observed<unknown>[] = [];
      observe(transaction$);
      at(1_000, () => {
        // before it has read the start again
        observe(transaction$).subscription.unsubscribe();
        seen.push(observe(transaction$));
      });
      return () => {
        expect(node.commits).toHaveLength(1);
        expect(seen[0]?.values).toMatchObject([{ offset: 11, isRepeated: true }]);
      };
    });
  });

  it('continue a change without a command id whose outcome was left unknown', () => {
    run({ faults: [{ kind: 'slow', ms: 10_000 }] }, ({ node, ledger }) => {
      const transaction$ = ledger.submitAndWaitForTransaction({ ...create, commandId: undefined });
      const seen = observe(transaction$.pipe(timeout(1_000), retry({ count: 30, delay: 1_000 })));
      return () => {
        expect(node.commits).toHaveLength(1);
        expect(seen.values).toMatchObject([{ offset: 11, isRepeated: true }]);
      };
    });
  });

  it('with a command id commit one change, and the later ones are marked', () => {
    run({}, ({ node, ledger }) => {
      const seen = observe(ledger.submitAndWaitForTransaction(create).pipe(repeat(3)));
      return () => {
        expect(node.commits).toHaveLength(1);
        expect(seen.values).toMatchObject([{ offset: 11 }, { isRepeated: true }, { isRepeated: true }]);
      };
    });
  });

  it('do not report a refusal while another of the same change may commit it', () => {
    const faults: CommandFault[] = [
      { kind: 'slow', ms: 3_000 },
      { kind: 'refused', code: 'DAML_FAILURE' },
    ];
    run({ faults }, ({ node, ledger }) => {
      const transaction$ = ledger.submitAndWaitForTransaction(create);
      const both = [observe(transaction$), observe(transaction$)];
      return () => {
        expect(node.attempts).toHaveLength(2);
        expect(both.map(({ values }) => values)).toMatchObject([[{ offset: 11 }], [{ offset: 11, isRepeated: true }]]);
      };
    });
  });

  it('keep the start of a change whose outcome was unknown', () => {
    run({ faults: [lost] }, ({ node, ledger }) => {
      const once$ = ledger.submitAndWaitForTransaction(create, { recover: false });
      const seen = observe(once$.pipe(retry({ count: 1, delay: 1_000 })));
      return () => {
        expect(node.commits).toHaveLength(1);
        expect(seen.values).toMatchObject([{ offset: 11, isRepeated: true }]);
      };
    });
  });

  it('of a later call find what an earlier one has committed: the ledger keeps its start', () => {
    run({ faults: [lost] }, ({ node, ledger, at }) => {
      const submit = () => observe(ledger.submitAndWaitForTransaction(create, { recover: false }));
      submit();
      let seen: Observed<unknown> | undefined;
      at(1_000, () => {
        seen = submit();
      });
      return () => {
        expect(node.commits).toHaveLength(1);
        expect(seen?.values).toMatchObject([{ offset: 11, isRepeated: true }]);
      };
    });
  });

  it('begin at the end of the ledger that has taken the place of the first', () => {
    run({ faults: [lostRequest] }, ({ node, ledger, at }) => {
      const request = { ...create, commandId: undefined };
      const submit = () => observe(ledger.submitAndWaitForTransaction(request, { recover: false }));
      submit();
      at(50, () => {
        node.ledger.replace([], 40, 'other::1220');
        submit();
      });
      return () => {
        expect(commandsOf(node)[1]).toMatchObject({ deduplicationPeriod: { DeduplicationOffset: { value: 40 } } });
      };
    });
  });

  it.each(['create', 'consume'] as const)('of two processes with the same command id commit once: %s (G62)', (kind) => {
    const request = kind === 'create' ? create : exercise;
    run({ kind, faults: [{ kind: 'slow', ms: 3_000 }] }, ({ node, service, submit }) => {
      const other = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      const both = [submit(request), observe(other.submitAndWaitForTransaction(request))];
      return () => {
        expect(node.commits).toHaveLength(1);
        expect(both.map(({ values }) => values)).toMatchObject([[{ offset: 11 }], [{ offset: 11, isRepeated: true }]]);
      };
    });
  });

  it('in a later process find the change by its start (G62)', () => {
    run({ kind: 'consume', faults: [lost] }, ({ node, service, at, submit }) => {
      const first = submit(exercise);
      at(20, () => {
        first.subscription.unsubscribe();
      });
      let seen: Observed<unknown> | undefined;
      at(5_000, () => {
        const next = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
        seen = observe(next.submitAndWaitForTransaction(exercise, { since: 10 }));
      });
      return () => {
        expect(node.commits).toHaveLength(1);
        expect(seen?.values).toMatchObject([{ offset: 11, isRepeated: true }]);
      };
    });
  });

  it.each([
    [{ DeduplicationDuration: { value: { seconds: 600 } } }, 10],
    [{ DeduplicationOffset: { value: 5 } }, 5],
    [{ DeduplicationOffset: { value: 20 } }, 10],
  ])('in a later process search from its start, or from before: %o', (deduplicationPeriod, value) => {
    run({}, ({ node, submit }) => {
      submit({ ...create, deduplicationPeriod }, { since: 10 });
      return () => {
        expect(commandsOf(node)).toMatchObject([{ deduplicationPeriod: { DeduplicationOffset: { value } } }]);
      };
    });
  });

  it('in a later process without recovery are settled at once if the participant refuses them', () => {
    const faults: CommandFault[] = [lost, { kind: 'refused', code: 'DAML_FAILURE' }];
    run({ kind: 'consume', hasCheckpoints: false, faults }, ({ service, at, submit }) => {
      submit(exercise, { recover: false });
      let seen: Observed<unknown> | undefined;
      at(5_000, () => {
        const next = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
        seen = observe(next.submitAndWaitForTransaction(exercise, { since: 10, recover: false }));
      });
      return () => {
        expect(seen?.values).toMatchObject([{ offset: 11, isRepeated: true }]);
      };
    });
  });

  it('in a later process know by a registered rejection that the change was not committed', () => {
    run({ faults: [{ kind: 'rejected', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', afterMs: 0 }] }, ({ submit }) => {
      const seen = submit(create, { since: 10 });
      return () => {
        expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', reason: 'traffic' });
        expect(seen.endedAt).toBeLessThan(1_000);
      };
    });
  });

  it('that are unsubscribed abort their request and leave no timer', () => {
    run({ faults: [{ kind: 'slow', ms: 60_000 }] }, ({ service, ledger }) => {
      observe(
        ledger.submitAndWaitForTransaction(create).pipe(
          take(1),
          map(() => undefined),
          timeout({ first: 2_000 }),
        ),
      );
      return () => {
        expect(service.aborted).toHaveLength(1);
        expect(service.open).toBe(0);
      };
    });
  });
});

describe('an invalid request', () => {
  it.each<[string, unknown, CommandsOptions | undefined]>([
    ['commands', { ...create, commands: [] }, undefined],
    ['actAs', { ...create, actAs: [] }, undefined],
    [
      'minLedgerTimeRel',
      { ...create, minLedgerTimeAbs: '2026-07-24T10:00:00Z', minLedgerTimeRel: { seconds: 1 } },
      undefined,
    ],
    ['commandId', { ...create, commandId: undefined }, { since: 10 }],
    ['applicationId', { ...create, applicationId: 'app' }, undefined],
  ])('is refused before anything is sent: %s', (path, request, options) => {
    run({}, ({ service, submit }) => {
      const seen = submit(request as CommandsRequest, options);
      return () => {
        expect(seen.error).toMatchObject({ _tag: 'InvalidRequestError', problems: [{ path }] });
        expect(service.requests).toEqual([]);
      };
    });
  });

  it('has a start that is no offset: a TypeError', () => {
    run({}, ({ ledger }) => {
      expect(() => ledger.submitAndWaitForTransaction(create, { since: -1 })).toThrow(TypeError);
      return () => undefined;
    });
  });
});
