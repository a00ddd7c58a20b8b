import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  asyncScheduler,
  concatMap,
  delay,
  ignoreElements,
  map,
  merge,
  of,
  type Observable,
  repeat,
  retry,
  take,
  takeUntil,
  throwError,
  timeout,
  timer,
} from 'rxjs';
import {
  createLedger,
  type CommandsOptions,
  type CommandsRequest,
  type HttpPort,
  type Ledger,
  type Transaction,
} from '../../src/index.js';
import { type CommandFault, submitPath } from '../helpers/CommandService.js';
import { observe, type Observed } from '../helpers/observe.js';
import { type Reply, scriptedService, type ScriptedService } from '../helpers/scripted.js';
import { marbles } from '../helpers/time.js';
import { type CommandPlan, contractId, VirtualCommands } from '../helpers/virtualCommands.js';
import { checkpoint, errorBody, errorReply, ok, transactionValue, transactionWith } from '../helpers/wire.js';
import { updateFormat } from '../helpers/world.js';

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
const unnamed = { ...create, commandId: undefined };
const exercise: CommandsRequest = {
  ...create,
  commands: [{ ExerciseCommand: { templateId: '#p:M:T', contractId, choice: 'Act', choiceArgument: {} } }],
};

/** A participant in virtual time, and a ledger of it. */
interface Setup {
  readonly node: VirtualCommands;
  readonly service: ScriptedService;
  readonly ledger: Ledger;
}

/** What happens after which milliseconds; at 0, before the submission. */
type Steps = Readonly<Record<number, (setup: Setup) => void>>;
type Faults = readonly CommandFault[];

/** Runs a test against a participant with these faults, to the end of all that it started. */
const play = <Result>(
  faults: Faults,
  test: (setup: Setup) => Result,
  at: Steps = {},
  plan: Partial<CommandPlan> = {},
): Setup & { readonly result: Result } =>
  marbles(({ flush }) => {
    const defaults = { kind: 'create', latencyMs: 10, hasCheckpoints: true, completions: 'completions' } as const;
    const node = new VirtualCommands({ ...defaults, faults, ...plan });
    const service = scriptedService(node.reply);
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
    const setup = { node, service, ledger };
    at[0]?.(setup);
    const result = test(setup);
    for (const [ms, step] of Object.entries(at))
      if (ms !== '0')
        asyncScheduler.schedule(() => {
          step(setup);
        }, Number(ms));
    flush();
    return { ...setup, result };
  });

/** Runs one submission. */
function submit(
  faults: Faults = [],
  { request = create, at = {}, hasCheckpoints = true, ...options }: Submit = {},
): Setup & { readonly seen: Observed<Transaction> } {
  const plan = { kind: request.commands === exercise.commands ? 'consume' : 'create', hasCheckpoints } as const;
  const { result, ...setup } = play(
    faults,
    ({ ledger }) => observe(ledger.submitAndWaitForTransaction(request, options)),
    at,
    plan,
  );
  return { ...setup, seen: result };
}
interface Submit extends CommandsOptions {
  readonly request?: CommandsRequest;
  readonly at?: Steps;
  readonly hasCheckpoints?: boolean;
}

/** Submits, and again by another process after 5 seconds. */
function submitLater(faults: Faults, first: CommandsOptions | 'unsubscribed', then: CommandsOptions) {
  const seen: Observed<Transaction>[] = [];
  const call = (ledger: Ledger, options: CommandsOptions) =>
    seen.push(observe(ledger.submitAndWaitForTransaction(exercise, options)));
  const isUnsubscribed = first === 'unsubscribed';
  const { node } = play(
    faults,
    ({ ledger }) => call(ledger, isUnsubscribed ? {} : first),
    {
      20: () => isUnsubscribed && seen[0]?.subscription.unsubscribe(),
      5_000: ({ service }) => call(createLedger({ baseUrl: 'http://ledger.example', port: service.port }), then),
    },
    { kind: 'consume', hasCheckpoints: false },
  );
  return { node, second: seen[1] };
}

const lost = { kind: 'lostResponse', how: 'reset', afterMs: 100 } as const satisfies CommandFault;
const lostRequest: CommandFault = { kind: 'lostRequest', how: 'reset' };
type Code<K extends CommandFault['kind']> = Extract<CommandFault, { readonly kind: K; readonly code: unknown }>['code'];
const refused = (code: Code<'refused'> = 'DAML_FAILURE'): CommandFault => ({ kind: 'refused', code });
const slow = (ms: number): CommandFault => ({ kind: 'slow', ms });
const noTraffic = { kind: 'rejected', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', afterMs: 10 } as const;
const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const many = (fault: CommandFault): Faults => Array.from({ length: 999 }, () => fault);

/** The transaction, found after another attempt has committed it. */
const found = [{ offset: 11, isRepeated: true }];
const commandsOf = ({ attempts }: VirtualCommands) =>
  attempts.map(({ commands }) => commands as Readonly<Record<string, unknown>>);
const periodsOf = (node: VirtualCommands) => commandsOf(node).map((commands) => commands['deduplicationPeriod']);
const since = (value: number) => ({ DeduplicationOffset: { value } });
/** Commits something else, and prunes everything. */
const prune = ({ node }: Setup): void => {
  node.appendOther('');
  node.ledger.pruned = node.ledger.end;
};

describe('an attempt', () => {
  it.each([undefined, null, { Empty: {} }])(
    'is covered by a deduplication offset from before the first, never by the default period: %j',
    (deduplicationPeriod) => {
      const { seen, node } = submit([lost], { request: { ...create, deduplicationPeriod } });
      expect(seen.completed).toBe(true);
      expect(periodsOf(node)).toEqual([since(10), since(10)]);
    },
  );

  it('keeps command id, user and parties, and has a submission id of its own', () => {
    const all = commandsOf(submit([lostRequest, lostRequest]).node);
    const ids = all.map(({ commandId, userId, actAs }) => JSON.stringify([commandId, userId, actAs]));
    expect(new Set(ids).size).toBe(1);
    expect(new Set(all.map(({ submissionId }) => submissionId)).size).toBe(3);
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
    const { node } = submit([], { request: { ...fields, transactionFormat } });
    expect(node.attempts).toMatchObject([{ commands: fields, transactionFormat }]);
  });

  it('takes one request, but for the first of a ledger', () => {
    const { service, result } = play([], ({ ledger }) =>
      observe(ledger.submitAndWaitForTransaction(unnamed).pipe(repeat(4))),
    );
    expect(result.values).toHaveLength(4);
    expect(service.requests.map(({ path }) => path).sort()).toEqual([
      ...Array.from({ length: 4 }, () => submitPath),
      '/v2/parties/participant-id',
      '/v2/parties/participant-id',
      '/v2/state/ledger-end',
      '/v2/updates/flats',
    ]);
  });

  it('discloses the contracts of its commands only if an earlier one may have archived them', () => {
    const { node, seen } = submit([lost], { request: exercise });
    expect(commandsOf(node).map(({ disclosedContracts }) => disclosedContracts)).toEqual([
      [],
      [{ contractId, templateId: 'p:M:T', createdEventBlob: 'AAAA', synchronizerId: '' }],
    ]);
    expect(seen.values).toMatchObject(found);
  });

  it('looks its contracts up for all parties that act or read', () => {
    const { service } = submit([lost], { request: { ...exercise, readAs: ['carol::1220'] } });
    const { body } = service.requests.find(({ path }) => path === '/v2/events/events-by-contract-id') ?? {};
    const { filtersByParty } = body?.['eventFormat'] as { readonly filtersByParty: object };
    expect(Object.keys(filtersByParty)).toEqual(['alice::1220', 'carol::1220']);
  });

  it('requests names in a format only once, because an error about them is the same before and after the commit', () => {
    const filters = { cumulative: [{ identifierFilter: { TemplateFilter: { value: { templateId: '#q:M:T' } } } }] };
    const transactionFormat = {
      eventFormat: { filtersByParty: { 'alice::1220': filters } },
      transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' as const,
    };
    const { result } = play([], ({ node }) => {
      const service = scriptedService((request, count) => {
        // the participant does not find the names, before or after the commit
        const isNamed = request.path === '/v2/updates/update-by-offset' && JSON.stringify(request.body).includes('#q');
        const isUnknown = count === 5 || isNamed;
        return isUnknown ? [errorReply(404, errorBody('PACKAGE_NAMES_NOT_FOUND', 11))] : node.reply(request);
      });
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      return { service, seen: observe(ledger.submitAndWaitForTransaction({ ...create, transactionFormat })) };
    });
    const attempts = result.service.requests.filter(({ path }) => path === submitPath);
    expect(attempts.map(({ body }) => 'transactionFormat' in body)).toEqual([true, false]);
    expect(result.seen.values).toMatchObject([{ offset: 11, events: [] }]);
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
    slow(60_000),
  ])('is found by the next one: %o (G60)', (fault) => {
    const { node, seen } = submit([fault]);
    expect(node.commits).toHaveLength(1);
    expect(seen).toMatchObject({ completed: true, values: found });
  });

  it('is followed by others until one is sent', () => {
    const { node, seen } = submit([lostRequest, { kind: 'refusedConnection' }]);
    expect(node.attempts).toHaveLength(3);
    expect(seen.values).toMatchObject([{ offset: 11 }]);
    expect(seen.endedAt).toBeLessThan(10_000);
  });

  it('is not taken for a failure when its contract is gone: the archival shows that it was committed (G60)', () => {
    // pruned blobs cannot be disclosed, but the archival is still there
    const { node, seen } = submit([lost], { request: exercise, at: { 0: (its) => (its.node.isBlobPruned = true) } });
    expect(seen.values).toMatchObject(found);
    expect(node.attempts).toHaveLength(2);
  });

  it.each<[string, Steps]>([
    [
      'meanwhile',
      {
        50: ({ node }) => {
          node.archive();
        },
      },
    ],
    [
      'before the first attempt',
      {
        0: ({ node }) => {
          node.archive();
          node.appendOther('');
        },
      },
    ],
  ])('was not committed if another transaction has archived its contract %s, which is known at once', (_, at) => {
    const { node, seen } = submit([lostRequest, refused()], { request: exercise, hasCheckpoints: false, at });
    expect(node.commits).toEqual([]);
    expect(seen.endedAt).toBeLessThan(10_000);
    expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', reason: 'refusal' });
  });

  it.each<[string, CommandsRequest['actAs'], (setup: Setup) => void]>([
    ['the transaction of another user', ['alice::1220'], ({ node }) => node.appendOther('order-1')],
    [
      'an automatic reassignment',
      ['alice::1220'],
      ({ node }) => {
        node.reassign('order-1');
      },
    ],
    [
      'the transaction of other parties and the same user',
      ['alice::1220', 'bob::1220'],
      ({ node }) => node.appendOther('order-1', { userId: 'me', actAs: ['alice::1220'] }),
    ],
    [
      // of whose parties a completion shows only those that the request names
      'the transaction of more parties and the same user',
      ['alice::1220'],
      ({ node }) => node.appendOther('order-1', { userId: 'me', actAs: ['alice::1220'] }),
    ],
  ])('is not found in %s with the same command id', (_, actAs, commit) => {
    const { seen } = submit([lostRequest, refused()], { request: { ...create, actAs }, at: { 50: commit } });
    expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', reason: 'refusal' });
    // not before the synchronizer no longer accepts the first attempt
    expect(seen.endedAt).toBeGreaterThan(130_000);
  });

  it.each([create, unnamed])(
    'is not taken for a failure if its transaction cannot be decoded: $commandId',
    (request) => {
      const { node, seen } = submit([lost, refused()], {
        request,
        at: { 0: (its) => (its.node.isUndecodable = true) },
      });
      expect(node.commits).toHaveLength(1);
      expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', completionOffset: 11 });
    },
  );

  it.each([
    { minLedgerTimeRel: { seconds: 170 } },
    // the record time of the virtual ledger begins at midnight
    { minLedgerTimeAbs: '2026-07-24T00:02:50Z' },
  ])('is not given up before its earliest ledger time, for which the participant holds it: %o', (times) => {
    const faults: Faults = [{ kind: 'held', ms: 170_000 }, refused('DAML_AUTHORIZATION_ERROR')];
    const { node, seen } = submit(faults, { request: { ...create, ...times } });
    expect(node.commits).toHaveLength(1);
    expect(seen.values).toMatchObject(found);
  });

  it.each([
    ['create', create, 288],
    ['consume', exercise, 298],
  ])('is found despite an outage while it is being settled: %s', (_, request, downAt) => {
    // the second attempt is refused just before that
    const { node, seen } = submit([lost, refused()], {
      request,
      at: {
        [downAt]: (its) => {
          its.node.goDown(20_000);
        },
      },
    });
    expect(node.attempts).toHaveLength(2);
    expect(seen.values).toMatchObject(found);
    expect(seen.endedAt).toBeGreaterThan(20_000);
  });

  it('is looked for once more when the time is over, if the participant still refuses the next ones', () => {
    const faults = [lost, ...many(refused('PARTICIPANT_BACKPRESSURE'))];
    expect(submit(faults, { recover: { withinMs: 10_000 } }).seen.values).toMatchObject(found);
  });

  it('is found if it is committed while a refusal of the next one is being settled, despite an earlier checkpoint', () => {
    const faults = [slow(90_000), refused('UNKNOWN_INFORMEES')];
    expect(submit(faults).seen.values).toMatchObject(found);
    // from before the refusal
    const old = ({ node }: Setup): void => {
      node.ledger.append(11, checkpoint(11, '2026-07-23T00:00:00Z'));
      node.appendOther('');
    };
    expect(submit(faults, { at: { 50: old } }).seen.values).toMatchObject([{ offset: 13, isRepeated: true }]);
  });

  it.each(['lost', 'committed'] as const)(
    'is found if a gateway answers with the transaction of another one: %s',
    (how) => {
      const { node, result } = play([], ({ node: its }) => {
        let sent = 0;
        const other = of(ok({ transaction: transactionValue(7, { commandId: 'order-2' }) })).pipe(delay(20));
        const service = scriptedService((request) => {
          if (request.path !== submitPath || (sent += 1) > 1) return its.reply(request);
          return how === 'lost' ? other : merge(its.reply(request).pipe(ignoreElements()), other);
        });
        const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
        return observe(ledger.submitAndWaitForTransaction(create));
      });
      expect(node.commits).toHaveLength(1);
      expect(result.values).toMatchObject([{ offset: 11, commandId: 'order-1' }]);
    },
  );

  it('is found if it is the first event of its synchronizer for long, despite the checkpoint of that event', () => {
    const { node, seen } = submit([slow(60_000), refused('UNKNOWN_INFORMEES')], {
      at: {
        0: (its) => {
          const sequencedMs = (): number => (asyncScheduler.now() < 30_000 ? -600_000 : 30_000);
          const recordTime = (): string => new Date(Date.UTC(2026, 6, 24) + sequencedMs()).toISOString();
          its.node.ledger.reconfigure({ recordTime });
        },
      },
    });
    expect(node.commits).toHaveLength(1);
    expect(seen.values).toMatchObject(found);
  });

  it('is decided by the rejection of the next one, which was registered', () => {
    const { node, seen } = submit([lostRequest, noTraffic]);
    expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', reason: 'traffic' });
    expect(node.attempts).toHaveLength(2);
    expect(seen.endedAt).toBeLessThan(1_000);
  });

  it('is unknown if its deduplication data are pruned: the next one does not begin later (G61)', () => {
    const { node, seen } = submit([lost], { at: { 70: prune } });
    expect(node.commits).toHaveLength(1);
    expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', lastError: { _tag: 'PrunedError' } });
  });

  it.each([
    ['of another participant', 40, 'other::1220'],
    ['that ends before it', 5, 'participant::1220'],
  ])('is not sent to another ledger in the place of the first (G61): %s', (_, end, participantId) => {
    const { node, seen } = submit([lost], {
      at: {
        50: (its) => {
          its.node.ledger.replace([], end, participantId);
        },
      },
    });
    expect(node.attempts).toHaveLength(1);
    expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', lastError: { _tag: 'LedgerResetError' } });
  });

  it.each<[string, CommandFault]>([
    ['refused', refused('PARTICIPANT_BACKPRESSURE')],
    ['rejected', { kind: 'rejected', code: 'LOCAL_VERDICT_TIMEOUT', afterMs: 10 }],
  ])('is not followed by one to another participant if it was %s (G61)', (_, fault) => {
    const { node, seen } = submit([fault, lost], {
      at: {
        55: (its) => {
          its.node.ledger.reconfigure({ participantId: 'other::1220' });
        },
        5_000: (its) => {
          its.node.ledger.reconfigure({ participantId: 'participant::1220' });
        },
      },
    });
    expect(seen.error).toMatchObject({ _tag: 'NotSentError' });
    expect(node.commits).toEqual([]);
  });

  it.each<[string, CommandFault, number, string]>([
    ['refused', refused('PARTICIPANT_BACKPRESSURE'), 1_300, 'OutcomeUnknownError'],
    ['rejected', noTraffic, 320, 'NotSentError'],
  ])('is committed once if it was %s, and its next subscription finds another participant', (_, fault, backAt, tag) => {
    const defaults = { kind: 'create', latencyMs: 10, hasCheckpoints: true, completions: 'completions' } as const;
    const other = new VirtualCommands({ ...defaults, faults: [lost] });
    other.ledger.reconfigure({ participantId: 'other::1220' });
    const { node, result } = play([fault], ({ node: first }) => {
      let present = first;
      asyncScheduler.schedule(() => (present = other), 85);
      asyncScheduler.schedule(() => (present = first), backAt);
      const service = scriptedService((request) => present.reply(request));
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      return observe(ledger.submitAndWaitForTransaction(create).pipe(retry({ count: 1, delay: 100 })));
    });
    expect(result.error).toMatchObject({ _tag: tag });
    expect([...node.commits, ...other.commits]).toHaveLength(tag === 'NotSentError' ? 0 : 1);
  });

  it.each<[string, (count: number) => Reply | undefined]>([
    ['fails from the beginning', () => errorReply(503, '<html>no backend</html>')],
    ['is blocked later', (count) => (count > 2 ? errorReply(403, '<html>forbidden</html>') : undefined)],
    ['is removed later', (count) => (count > 2 ? errorReply(404, '<html>not found</html>') : undefined)],
  ])('is repeated after back-pressure if the path of the participant ID %s', (_, replyOf) => {
    const { node, result } = play([refused('PARTICIPANT_BACKPRESSURE')], ({ node: its }) => {
      let count = 0;
      const service = scriptedService((request) => {
        if (request.path !== '/v2/parties/participant-id') return its.reply(request);
        const reply = replyOf((count += 1));
        return reply === undefined ? its.reply(request) : of(reply).pipe(delay(10));
      });
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      return observe(ledger.submitAndWaitForTransaction(create));
    });
    expect(node.commits).toHaveLength(1);
    expect(result.values).toMatchObject([{ offset: 11 }]);
    expect(result.endedAt).toBeLessThan(3_000);
  });

  it('is unknown in the end, with what another process needs to continue (G61)', () => {
    const { seen } = submit(many(lostRequest));
    const submission = { commandId: 'order-1', userId: 'me', actAs: ['alice::1220'], since: 10 };
    expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', submission });
    expect(seen.endedAt).toBeGreaterThan(230_000);
  });

  it.each(['reset', '502'] as const)('is unknown at once without recovery: %s', (how) => {
    const { node, service, seen } = submit([{ ...lost, how }], { recover: false });
    expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError' });
    expect(node.attempts).toHaveLength(1);
    // with the start of the ledger
    expect(service.requests).toHaveLength(5);
  });
});

describe('a refusal', () => {
  it.each<[string, CommandFault, object]>([
    ['by the model', refused(), { code: 'DAML_FAILURE', reason: 'refusal', isContention: false }],
    ['of the authorization', refused('DAML_AUTHORIZATION_ERROR'), { reason: 'authorization', isContention: false }],
    ['by the topology', refused('NO_SYNCHRONIZER_FOR_SUBMISSION'), { reason: 'topology', isContention: false }],
    ['because of packages', refused('PACKAGE_SELECTION_FAILED'), { reason: 'packages', isContention: false }],
    ['without traffic', noTraffic, { reason: 'traffic' }],
  ])('of a first attempt is final: %s', (_, fault, error) => {
    const { node, seen } = submit([fault]);
    expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', ...error });
    expect(node.attempts).toHaveLength(1);
  });

  it('because of load is repeated after a second at the earliest', () => {
    const { seen } = submit([refused('PARTICIPANT_BACKPRESSURE')]);
    expect(seen.values).toMatchObject([{ offset: 11 }]);
    expect(seen.values).not.toMatchObject(found);
    expect(seen.endedAt).toBeGreaterThan(1_000);
  });

  it.each<[Code<'rejected'>, boolean]>([
    ['LOCAL_VERDICT_LOCKED_CONTRACTS', true],
    // they cost traffic, or may have a cause that stays
    ['MEDIATOR_INVALID_MESSAGE', false],
    ['SEQUENCER_REQUEST_FAILED', false],
  ])('is repeated three times, and then left to the caller: %s', (code, isContention) => {
    const { node, seen } = submit(many({ kind: 'rejected', code, afterMs: 10 }), { request: exercise });
    expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', code, isContention });
    expect(node.attempts).toHaveLength(4);
  });

  it('of a contract that is archived before the first attempt is contention', () => {
    const { node, seen } = submit([], {
      request: exercise,
      at: {
        0: (its) => {
          its.node.archive();
        },
      },
    });
    expect(seen.error).toMatchObject({ code: 'CONTRACT_NOT_FOUND', reason: 'inactiveContract', isContention: true });
    expect(node.attempts).toHaveLength(1);
  });

  it('because of a pruned start of the first attempt is followed by a later start', () => {
    const { node, result } = play(
      [],
      ({ ledger }) => observe(ledger.submitAndWaitForTransaction(unnamed).pipe(repeat({ count: 3, delay: 1_000 }))),
      { 500: prune },
    );
    expect(result.values).toMatchObject([{ offset: 11 }, { offset: 13 }, { offset: 14 }]);
    // the third submission begins at the later start
    expect(node.attempts).toHaveLength(4);
  });

  it('because of a pruned start is followed by a later start, also if the caller requests a period', () => {
    const seen: Observed<Transaction>[] = [];
    const call = ({ ledger }: Setup, deduplicationPeriod?: CommandsRequest['deduplicationPeriod']) =>
      seen.push(observe(ledger.submitAndWaitForTransaction({ ...unnamed, deduplicationPeriod })));
    const { node } = play([], (setup) => call(setup), {
      500: prune,
      1_000: (setup) => call(setup, since(12)),
      2_000: (setup) => call(setup, since(12)),
    });
    expect(seen.map(({ values }) => values)).toMatchObject([[{ offset: 11 }], [{ offset: 13 }], [{ offset: 14 }]]);
    // the third submission begins at the later start
    expect(periodsOf(node)).toEqual([since(10), since(10), since(12), since(12)]);
  });

  it('because of a pruned start after another refusal is followed by a later start, which a lost response keeps', () => {
    const faults: Faults = [refused('PARTICIPANT_BACKPRESSURE'), slow(10), { ...lost, afterMs: 10 }];
    const { node, seen } = submit(faults, {
      recover: { withinMs: 1_500 },
      at: {
        500: prune,
        1_100: (its) => {
          its.node.goDown(60_000);
        },
      },
    });
    expect(periodsOf(node)).toEqual([since(10), since(10), since(11)]);
    expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', submission: { since: 11 } });
  });

  it('of the connection means that nothing was sent', () => {
    const { seen } = submit([{ kind: 'refusedConnection' }]);
    expect(seen.error).toMatchObject({ _tag: 'NotSentError', code: 'ECONNREFUSED' });
  });
});

describe('subscriptions', () => {
  it('without a command id submit a change each, also one after the other as firstValueFrom does', () => {
    const { node, result } = play([], ({ ledger }) => {
      const transaction$ = ledger.submitAndWaitForTransaction(unnamed).pipe(take(1));
      return [observe(transaction$), observe(transaction$.pipe(repeat(2)))];
    });
    expect(result.map(({ values }) => values.length)).toEqual([1, 2]);
    expect(new Set(node.commits.map(({ change }) => change)).size).toBe(3);
  });

  it('continue an open change, also if the subscription that was to continue it ended at once', () => {
    const seen: Observed<unknown>[] = [];
    let transaction$: Observable<unknown>;
    const { node } = play(
      [lost],
      ({ ledger }) => {
        transaction$ = ledger.submitAndWaitForTransaction(unnamed, { recover: false });
        observe(transaction$);
      },
      {
        1_000: () => {
          // before it has read the start again
          observe(transaction$).subscription.unsubscribe();
          seen.push(observe(transaction$));
        },
      },
    );
    expect(node.commits).toHaveLength(1);
    expect(seen[0]?.values).toMatchObject(found);
  });

  it.each<[string, Faults, (ledger: Ledger) => Observable<Transaction>]>([
    [
      'without a command id, left unknown by a timeout',
      [slow(10_000)],
      (ledger) => ledger.submitAndWaitForTransaction(unnamed).pipe(timeout(1_000), retry({ count: 30, delay: 1_000 })),
    ],
    [
      'with one, left unknown without recovery',
      [lost],
      (ledger) =>
        ledger.submitAndWaitForTransaction(create, { recover: false }).pipe(retry({ count: 1, delay: 1_000 })),
    ],
  ])('continue a change %s, from its start', (_, faults, transaction$) => {
    const { node, result } = play(faults, ({ ledger }) => observe(transaction$(ledger)));
    expect(node.commits).toHaveLength(1);
    expect(result.values).toMatchObject(found);
  });

  it('with a command id commit one change, and the later ones are marked', () => {
    const { node, result } = play([], ({ ledger }) =>
      observe(ledger.submitAndWaitForTransaction(create).pipe(repeat(3))),
    );
    expect(node.commits).toHaveLength(1);
    expect(result.values).toMatchObject([{ offset: 11 }, { isRepeated: true }, { isRepeated: true }]);
  });

  it('send what the request was when they began, also if the caller changes it while they are sent again', () => {
    const args = { amount: '1' };
    const request: CommandsRequest = {
      ...create,
      commands: [{ CreateCommand: { templateId: '#p:M:T', createArguments: args } }],
    };
    const { node } = play([lostRequest], ({ ledger }) => {
      const transaction$ = ledger.submitAndWaitForTransaction(request);
      const seen = observe(transaction$.pipe(repeat(2)));
      args.amount = '2';
      return seen;
    });
    const sent = node.attempts.map(({ commands }) => JSON.stringify(commands));
    expect(sent).toHaveLength(3);
    expect(sent.filter((body) => body.includes('"amount":"1"'))).toHaveLength(3);
  });

  it('do not report a refusal while another of the same change may commit it', () => {
    const { node, result } = play([slow(3_000), refused()], ({ ledger }) => {
      const transaction$ = ledger.submitAndWaitForTransaction(create);
      return [observe(transaction$), observe(transaction$)];
    });
    expect(node.attempts).toHaveLength(2);
    expect(result.map(({ values }) => values)).toMatchObject([[{ offset: 11 }], found]);
  });

  it('do not report a refusal as settled while another of the same change still sends it', () => {
    const silent: CommandFault = { kind: 'lostRequest', how: 'silence' };
    const { node, result } = play([silent, refused(), ...Array.from({ length: 4 }, () => silent)], ({ ledger }) => {
      const transaction$ = ledger.submitAndWaitForTransaction(create);
      return [observe(transaction$), observe(transaction$)];
    });
    expect(node.commits).toHaveLength(1);
    expect(result.map(({ values }) => values)).toMatchObject([[{ offset: 11 }], found]);
  });

  it('report a refusal that is settled when all have been refused', () => {
    const { node, result } = play([refused(), refused()], ({ ledger }) => {
      const transaction$ = ledger.submitAndWaitForTransaction(create);
      return [observe(transaction$), observe(transaction$)];
    });
    expect(node.attempts).toHaveLength(2);
    const rejected = { error: { _tag: 'SubmissionRejectedError' } };
    expect(result).toMatchObject([rejected, rejected]);
  });

  it('of a later call find what an earlier one has committed: the ledger keeps its start', () => {
    const seen: Observed<unknown>[] = [];
    const call = ({ ledger }: Setup) =>
      seen.push(observe(ledger.submitAndWaitForTransaction(create, { recover: false })));
    const { node } = play([lost], call, { 1_000: call });
    expect(node.commits).toHaveLength(1);
    expect(seen[1]?.values).toMatchObject(found);
  });

  it('are not answered with a transaction of the ledger that takes the place of theirs while it is read', () => {
    const { result } = play([lost], ({ node, service }) => {
      const port: HttpPort = (request) => {
        // a submitter is shown to nobody else
        const other = transactionWith(11, { commandId: '' });
        if (request.url.endsWith('/update-by-offset'))
          node.ledger.replace([{ offset: 11, element: other }], 40, 'other::1220');
        return service.port(request);
      };
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port });
      return observe(ledger.submitAndWaitForTransaction(create));
    });
    expect(result.values).toEqual([]);
    expect(result.error).toMatchObject({ _tag: 'OutcomeUnknownError', completionOffset: 11 });
  });

  it('begin at the end of the ledger that has taken the place of the first, after an error that says so', () => {
    const seen: Observed<unknown>[] = [];
    const call = ({ ledger }: Setup) =>
      seen.push(observe(ledger.submitAndWaitForTransaction(unnamed, { recover: false })));
    const { node } = play([lostRequest], call, {
      70: (setup) => {
        setup.node.ledger.replace([], 40, 'other::1220');
        call(setup);
      },
      120: call,
    });
    expect(seen[1]?.error).toMatchObject({ _tag: 'NotSentError', submission: { attempts: 0 } });
    expect(periodsOf(node).slice(1)).toEqual([since(40)]);
  });

  it('go to the participant that a feed has seen, although its ledger end cannot be read', () => {
    let isBroken = false;
    const { node, result } = play([], ({ service }) => {
      const port: HttpPort = (request) =>
        isBroken && request.url.endsWith('/v2/state/ledger-end') ? throwError(() => reset) : service.port(request);
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port });
      observe(ledger.updates({ beginExclusive: 10, updateFormat }).pipe(takeUntil(timer(500))));
      const submission$ = timer(600).pipe(
        concatMap(() => {
          isBroken = true;
          return ledger.submitAndWaitForTransaction(create);
        }),
      );
      return observe(submission$);
    });
    expect(result.values).toMatchObject([{ offset: 11 }]);
    expect(periodsOf(node)).toEqual([since(0)]);
  });

  it.each(['create', 'consume'] as const)('of two processes with the same command id commit once: %s (G62)', (kind) => {
    const request = kind === 'create' ? create : exercise;
    const { node, result } = play(
      [slow(3_000)],
      ({ ledger, service }) =>
        [ledger, createLedger({ baseUrl: 'http://ledger.example', port: service.port })].map((each) =>
          observe(each.submitAndWaitForTransaction(request)),
        ),
      {},
      { kind },
    );
    expect(node.commits).toHaveLength(1);
    expect(result.map(({ values }) => values)).toMatchObject([[{ offset: 11 }], found]);
  });

  it('in a later process find the change by its start (G62)', () => {
    const { node, second } = submitLater([lost], 'unsubscribed', { since: 10 });
    expect(node.commits).toHaveLength(1);
    expect(second?.values).toMatchObject(found);
  });

  it.each([lostRequest, lost])('in a later process stay at the participant that answered first (G61): %o', (fault) => {
    const { node, result } = play(
      [fault],
      ({ ledger }) => observe(ledger.submitAndWaitForTransaction(create, { since: 10 })),
      {
        100: ({ node: { ledger } }) => {
          ledger.replace([], 40, 'other::1220');
        },
      },
    );
    expect(node.attempts).toHaveLength(1);
    expect(result.error).toMatchObject({ _tag: 'OutcomeUnknownError', lastError: { _tag: 'LedgerResetError' } });
  });

  it('in a later process are not sent to another participant than a feed has seen (G61)', () => {
    const seen: Observed<unknown>[] = [];
    const { node } = play(
      [],
      ({ ledger }) => observe(ledger.updates({ beginExclusive: 10, updateFormat }).pipe(takeUntil(timer(500)))),
      {
        600: ({ node: { ledger: replaced }, ledger }) => {
          replaced.replace([], 40, 'other::1220');
          seen.push(observe(ledger.submitAndWaitForTransaction(create, { since: 10 })));
        },
      },
    );
    expect(node.attempts).toEqual([]);
    expect(seen[0]?.error).toMatchObject({ _tag: 'OutcomeUnknownError', lastError: { _tag: 'LedgerResetError' } });
  });

  it('in a later process without recovery are settled at once if the participant refuses them', () => {
    const { second } = submitLater([lost, refused()], { recover: false }, { since: 10, recover: false });
    expect(second?.values).toMatchObject(found);
  });

  it.each([
    [{ DeduplicationDuration: { value: { seconds: 600 } } }, 10],
    [since(5), 5],
    [since(20), 10],
  ])('in a later process search from its start, or from before: %o', (deduplicationPeriod, value) => {
    const { node } = submit([], { request: { ...create, deduplicationPeriod }, since: 10 });
    expect(periodsOf(node)).toEqual([since(value)]);
  });

  it('in a later process know by a registered rejection that the change was not committed', () => {
    const { seen } = submit([noTraffic], { since: 10 });
    expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', reason: 'traffic' });
    expect(seen.endedAt).toBeLessThan(1_000);
  });

  it('that are unsubscribed abort their request and leave no timer', () => {
    const { service } = play([slow(60_000)], ({ ledger }) =>
      observe(
        ledger.submitAndWaitForTransaction(create).pipe(
          take(1),
          map(() => undefined),
          timeout({ first: 2_000 }),
        ),
      ),
    );
    expect(service.aborted).toHaveLength(1);
    expect(service.open).toBe(0);
  });
});

describe('an internal error of the participant', () => {
  const undecoded = {
    kind: 'internalError',
    throwable: 'ujson.Value$InvalidData: Expected ujson.Str (data: 7)',
  } as const;
  const bug = { kind: 'internalError', throwable: 'java.util.NoSuchElementException: key not found' } as const;

  it('because it cannot decode the JSON of the commands is a refusal at once', () => {
    const { node, seen } = submit(many(undecoded));
    expect(node.attempts).toHaveLength(1);
    expect(seen.error).toMatchObject({
      _tag: 'SubmissionRejectedError',
      reason: 'invalid',
      message: expect.stringContaining('Next: correct the JSON'),
    });
    expect(seen.endedAt).toBeLessThan(1_000);
  });

  it('that passes leads to the transaction', () => {
    const { node, seen } = submit([bug, bug]);
    expect(seen.values).toMatchObject([{ offset: 11 }]);
    expect(node.commits).toHaveLength(1);
  });

  it('that stays is met three times, and then the updates show that nothing was committed', () => {
    const { node, seen } = submit(many(bug));
    expect(node.attempts).toHaveLength(3);
    expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', reason: 'other' });
    expect(seen.endedAt).toBeGreaterThan(130_000);
  });

  it('whose outcome stays open is quoted', () => {
    const { seen } = submit(many(bug), { recover: { withinMs: 5_000 } });
    expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError' });
    expect((seen.error as Error).message).toMatch(/^Last error: ApiError: \S/m);
  });
});

describe('commands with a deduplication duration', () => {
  const withDuration = (seconds: number): CommandsRequest => ({
    ...create,
    deduplicationPeriod: { DeduplicationDuration: { value: { seconds, nanos: 0 } } },
  });
  const secondsOf = (node: VirtualCommands): readonly unknown[] =>
    periodsOf(node).map(
      (period) =>
        (period as { DeduplicationDuration: { value: { seconds: number } } }).DeduplicationDuration.value.seconds,
    );

  it('are committed once if the participant holds the first attempt until a later one is committed', () => {
    const { node, seen } = submit([{ kind: 'held', ms: 25_000 }], { request: withDuration(3) });
    expect(seen.values).toHaveLength(1);
    expect(node.commits).toHaveLength(1);
  });

  it.each<[string, CommandFault]>([
    ['were lost', lostRequest],
    ['were refused', refused('PARTICIPANT_BACKPRESSURE')],
  ])('reach as far back as their first attempt after attempts that %s', (_, fault) => {
    const { node, result } = play(
      [slow(10), fault, fault, fault, fault],
      ({ ledger }) => observe(ledger.submitAndWaitForTransaction(withDuration(130))),
      {
        // the next life of the program, which had committed the change 125 seconds before
        125_000: ({ service: { port } }) => {
          const next = createLedger({ baseUrl: 'http://ledger.example', port, retry: { baseDelayMs: 5_000 } });
          observe(next.submitAndWaitForTransaction(withDuration(130)));
        },
      },
    );
    expect(result.values).toMatchObject([{ offset: 11 }]);
    expect(node.attempts).toHaveLength(6);
    expect(node.commits).toHaveLength(1);
  });

  it('reach back to an earlier subscription of the same change', () => {
    const { node } = play([slow(60_000)], ({ ledger }) => {
      const committed$ = ledger.submitAndWaitForTransaction(withDuration(200));
      const first = observe(committed$);
      asyncScheduler.schedule(() => {
        first.subscription.unsubscribe();
      }, 50);
      asyncScheduler.schedule(() => observe(committed$), 10_000);
    });
    // then the first attempt is in flight for a while
    expect(secondsOf(node).slice(0, 2)).toEqual([200, 200 + 1 + 130]);
  });

  it('reach back to an earlier subscription of the same change also without recovery', () => {
    const { node } = play([lost], ({ ledger }) => {
      const committed$ = ledger.submitAndWaitForTransaction(withDuration(3), { recover: false });
      observe(committed$);
      asyncScheduler.schedule(() => observe(committed$), 5_000);
    });
    expect(secondsOf(node)).toEqual([121, 3 + 1 + 5 + 120]);
    expect(node.commits).toHaveLength(1);
  });

  it.each([
    ['as long as an attempt may take', 3, {}, 121],
    ['as requested if that is longer', 500, {}, 500],
    ['as long as an attempt may take, also without recovery', 3, { recover: false }, 121],
  ] as const)('have a first attempt with a duration %s', (_, seconds, options, sent) => {
    const { node } = submit([], { request: withDuration(seconds), ...options });
    expect(secondsOf(node)).toEqual([sent]);
  });

  it('count the time for which the participant may hold them until their earliest ledger time', () => {
    const { node } = submit([], { request: { ...withDuration(3), minLedgerTimeRel: { seconds: 40 } } });
    expect(secondsOf(node)).toEqual([161]);
  });
});

describe('what is open after an attempt', () => {
  it('is read in the completions while the participant holds each attempt for longer than it waits for an answer', () => {
    // each of them waits anew, and the answer of none arrives
    const { node, seen } = submit(many({ kind: 'held', ms: 24_000 }), {
      request: { ...create, minLedgerTimeRel: { seconds: 24 } },
    });
    expect(node.commits).toHaveLength(1);
    expect(seen.values).toMatchObject(found);
    expect(seen.endedAt).toBeLessThan(30_000);
  });

  it('is not decided by the completion of an automatic reassignment, or of another submission', () => {
    const { node, seen } = submit(many({ kind: 'held', ms: 24_000 }), {
      at: {
        50: (its) => {
          its.node.reassign('order-1');
          its.node.appendOther('order-1', { userId: 'me' });
        },
      },
    });
    const [commit] = node.commits;
    expect(seen.values).toMatchObject([{ offset: commit?.offset, isRepeated: true }]);
  });

  it('is decided by the next attempts if the completions cannot be read', () => {
    const { node, result } = play(
      [],
      ({ node }) => {
        const service = scriptedService((request) =>
          request.path.startsWith('/v2/commands/co') ? [errorReply(403, errorBody('NA', -1))] : node.reply(request),
        );
        const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
        return observe(ledger.submitAndWaitForTransaction(create));
      },
      {},
      { faults: [slow(90_000), ...many(lostRequest).slice(0, 5)] },
    );
    expect(node.commits).toHaveLength(1);
    expect(result.values).toMatchObject(found);
  });

  it.each<[string, number, object | string, number]>([
    ['an error whose reason the participant withholds', 500, errorBody('NA', -1), 3],
    ['a size that a gateway refuses', 413, '<html>413 Request Entity Too Large</html>', 3],
    ['a size that the participant refuses', 413, 'exceeded size limit (8388608 bytes)!', 2],
  ])('is settled by reading after a few attempts with %s', (_, status, body, attempts) => {
    const { result } = play([], ({ node }) => {
      let sent = 0;
      const service = scriptedService((request) => {
        if (request.path !== submitPath) return node.reply(request);
        sent += 1;
        // the first one is reset while it is sent
        return [status === 413 && sent === 1 ? reset : errorReply(status, body)];
      });
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      return { service, seen: observe(ledger.submitAndWaitForTransaction(create)) };
    });
    const { service, seen } = result;
    expect(seen.error).toMatchObject({ _tag: 'SubmissionRejectedError', status });
    expect(service.requests.filter(({ path }) => path === submitPath)).toHaveLength(
      attempts + (status === 413 && attempts === 3 ? 1 : 0),
    );
    // not before the synchronizer no longer accepts the first attempt
    expect(seen.endedAt).toBeGreaterThan(130_000);
  });
});

describe('an attempt that may still be sequenced', () => {
  /** A checkpoint of two synchronizers, with the minutes that have passed in each of them. */
  const twoTimes = (offset: number, minutes: readonly [number, number]): object => ({
    update: {
      OffsetCheckpoint: {
        value: {
          offset,
          synchronizerTimes: minutes.map((passed, i) => ({
            synchronizerId: `sync${i}::1220ab`,
            recordTime: new Date(Date.UTC(2026, 6, 24, 0, passed)).toISOString(),
          })),
        },
      },
    },
  });

  const times = (minutes: number): readonly [number, number] => [minutes, minutes];

  it.each<[string, (poll: number) => readonly [number, number], string]>([
    ['a rejection once the time of all synchronizers has passed', times, 'SubmissionRejectedError'],
    ['unknown while one synchronizer stands still', (poll) => [poll, 0], 'OutcomeUnknownError'],
    ['unknown before two minutes have passed', (poll) => times(Math.min(2, poll)), 'OutcomeUnknownError'],
    // the first time that a synchronizer without traffic shows is that of its last event, however long ago that was
    ['unknown while only one event follows a silence', (poll) => times(poll > 5 ? 60 : 0), 'OutcomeUnknownError'],
    ['unknown while that is of one of them', (poll) => [poll, poll > 5 ? 60 : 0], 'OutcomeUnknownError'],
    ['a rejection two minutes after that event', (poll) => times(poll > 5 ? 60 + poll : 0), 'SubmissionRejectedError'],
  ])('is %s', (_, minutes, tag) => {
    const { result } = play([lostRequest, refused()], ({ node }) => {
      let polls = 0;
      const service = scriptedService((request) => {
        if (!request.path.startsWith('/v2/updates')) return node.reply(request);
        polls += 1;
        return of(ok([twoTimes(10 + polls, minutes(polls))])).pipe(delay(1_000));
      });
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      return observe(ledger.submitAndWaitForTransaction(create, { recover: { withinMs: 60_000 } }));
    });
    expect(result.error).toMatchObject({ _tag: tag });
  });

  it('is not followed by a contract that the request itself discloses by its blob alone', () => {
    const disclosedContracts = [{ createdEventBlob: 'AAAA' }];
    const { node } = submit([lost], { request: { ...exercise, disclosedContracts } });
    const sent = [{ createdEventBlob: 'AAAA', contractId: '', synchronizerId: '' }];
    expect(commandsOf(node).map((commands) => commands['disclosedContracts'])).toEqual([sent, sent]);
  });

  it('is not followed by a contract that the request itself discloses twice', () => {
    const disclosedContracts = [
      { contractId, templateId: '#p:M:T', createdEventBlob: 'BBBB', synchronizerId: 's::1220' },
      { contractId: '00ab', templateId: '#p:M:T', createdEventBlob: 'CCCC', synchronizerId: 's::1220' },
    ];
    const { node } = submit([lost], { request: { ...exercise, disclosedContracts } });
    expect(commandsOf(node).map((commands) => commands['disclosedContracts'])).toEqual([
      disclosedContracts,
      disclosedContracts,
    ]);
  });
});

describe('an invalid request', () => {
  const times = { minLedgerTimeAbs: '2026-07-24T10:00:00Z', minLedgerTimeRel: { seconds: 1 } };

  it.each<[string, unknown, CommandsOptions]>([
    ['commands', { ...create, commands: [] }, {}],
    ['actAs', { ...create, actAs: [] }, {}],
    ['minLedgerTimeRel', { ...create, ...times }, {}],
    ['commandId', unnamed, { since: 10 }],
    ['applicationId', { ...create, applicationId: 'app' }, {}],
    ['synchronizerId', { ...create, synchronizerId: '\ud83d' }, {}],
    [
      'disclosedContracts.0.createdEventBlob',
      { ...create, disclosedContracts: [{ contractId: '00', createdEventBlob: 'a\0' }] },
      {},
    ],
  ])('is refused before anything is sent: %s', (path, request, options) => {
    const { service, seen } = submit([], { request: request as CommandsRequest, ...options });
    expect(seen.error).toMatchObject({ _tag: 'InvalidRequestError', problems: [{ path }] });
    expect(service.requests).toEqual([]);
  });

  it('is refused soon if its arguments are nested more deeply than JSON can be written', () => {
    let createArguments: unknown = 1n;
    for (let depth = 0; depth < 50_000; depth += 1) createArguments = { inner: createArguments };
    const request = { ...create, commands: [{ CreateCommand: { templateId: '#p:M:T', createArguments } }] };
    const startedAt = performance.now();
    const { seen } = submit([], { request });
    // with the square of the depth, it would be more than a minute
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    expect(seen.error).toMatchObject({
      _tag: 'InvalidRequestError',
      problems: [{ path: expect.stringMatching(/^commands\.0\..*inner/) }],
    });
  });

  it('has a start that is no offset: a TypeError', () => {
    expect(() => submit([], { since: -1 })).toThrow(TypeError);
  });
});
