import { describe, expect, it } from '@jest/globals';
import { asyncScheduler } from 'rxjs';
import {
  type CommandsOptions,
  type CommandsRequest,
  createLedger,
  type Ledger,
  type SubmittedTransaction,
} from '../../src/index.js';
import type { CommandFault } from '../helpers/CommandService.js';
import { observe, type Observed } from '../helpers/observe.js';
import { scriptedService } from '../helpers/scripted.js';
import { marbles } from '../helpers/time.js';
import { type CommandPlan, contractId, VirtualCommands } from '../helpers/virtualCommands.js';

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

type Steps = Readonly<Record<number, (node: VirtualCommands, ledger: Ledger) => void>>;

/** Submits to a participant in virtual time, to the end of all that it starts. */
function submit(
  request: CommandsRequest,
  options: CommandsOptions,
  plan: Partial<CommandPlan>,
  at: Steps = {},
  count = 1,
) {
  return marbles(({ flush }) => {
    const defaults = { kind: 'create', latencyMs: 10, hasCheckpoints: true, completions: 'completions' } as const;
    const node = new VirtualCommands({ ...defaults, faults: [], ...plan });
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: scriptedService(node.reply).port });
    at[0]?.(node, ledger);
    const transaction$ = ledger.submitAndWaitForTransaction(request, options);
    const all = Array.from({ length: count }, () => observe(transaction$));
    for (const [ms, step] of Object.entries(at))
      if (ms !== '0')
        asyncScheduler.schedule(() => {
          step(node, ledger);
        }, Number(ms));
    flush();
    const [seen] = all as [Observed<SubmittedTransaction>];
    return { node, seen, all };
  });
}

const outcomeOf = ({ values, error }: Observed<{ readonly offset: number }>): unknown =>
  values[0]?.offset ?? (error as Error).name;

const refused: CommandFault = { kind: 'refused', code: 'DAML_AUTHORIZATION_ERROR' };
const both: CommandsRequest['actAs'] = ['alice::1220', 'bob::1220'];

describe('a commit with the command id of a change, that a process with its start reads', () => {
  it.each([
    ['is the change', 'of an earlier process', create, ['alice::1220'], 'canton-rx/1/a', 11],
    ['is the change', 'of an earlier process, whose parties have another order', both, both, 'canton-rx/2/a', 11],
    [
      'is the change',
      'of an earlier process, with a party twice',
      ['alice::1220', 'alice::1220'],
      ['alice::1220'],
      'canton-rx/1/a',
      11,
    ],
    ['is another one', 'of more parties', create, both, 'canton-rx/2/a', 'SubmissionRejectedError'],
    [
      'is another one',
      'of other parties',
      both,
      ['bob::1220', 'carol::1220'],
      'canton-rx/2/a',
      'SubmissionRejectedError',
    ],
    ['is another one', 'of fewer parties and another program', both, ['bob::1220'], 'a', 'SubmissionRejectedError'],
    ['leaves the outcome unknown', 'of another program', create, ['alice::1220'], 'a', 'OutcomeUnknownError'],
    ['leaves the outcome unknown', 'of another program for more parties', create, both, 'a', 'OutcomeUnknownError'],
  ] as const)('%s: %s', (_, __, given, actAs, submissionId, expected) => {
    const request = 'actAs' in given ? given : { ...create, actAs: given };
    const { node, seen } = submit(
      request,
      { since: 10 },
      { faults: [refused] },
      { 0: (its) => its.appendOther('order-1', { userId: 'me', actAs, submissionId }) },
    );
    // what is found need not be sent
    expect(node.attempts).toHaveLength(expected === 11 ? 0 : 1);
    expect(outcomeOf(seen)).toBe(expected);
  });

  it('leaves the outcome unknown if the completions are of all users, and the request names none', () => {
    const submission = { userId: 'other', submissionId: 'canton-rx/1/a' };
    const commit: Steps = { 0: (node) => node.appendOther('order-1', submission) };
    const read = (completions: CommandPlan['completions'], userId: string | undefined): unknown =>
      outcomeOf(submit({ ...create, userId }, { since: 10 }, { completions, faults: [refused] }, commit).seen);
    expect(read('command-completions', undefined)).toBe('OutcomeUnknownError');
    expect(read('command-completions', 'me')).toBe('SubmissionRejectedError');
  });

  it('may follow one of another program', () => {
    const { seen } = submit(
      create,
      { since: 10 },
      { faults: [refused] },
      {
        0: (node) => {
          node.appendOther('order-1', { userId: 'me' });
          node.appendOther('order-1', { userId: 'me', submissionId: 'canton-rx/1/a' });
        },
      },
    );
    expect(outcomeOf(seen)).toBe(12);
  });
});

it('a commit that follows the one of another user with the same command id is found', () => {
  const lost: CommandFault = { kind: 'lostResponse', how: 'reset', afterMs: 100 };
  const another: Steps = { 20: (node) => node.appendOther('order-1') };
  const { seen } = submit(create, {}, { latencyMs: 50, faults: [lost, refused] }, another);
  expect(seen.values).toMatchObject([{ offset: 12, isRepeated: true }]);
});

describe('an attempt for which the participant waits longer than its client', () => {
  const waiting = { ...create, minLedgerTimeRel: { seconds: 24 } };
  const held = { holds: true } as const;

  it('is found in the completions, also if an earlier call has sent it', () => {
    const earlier: Observed<unknown>[] = [];
    const { node, seen } = submit(waiting, {}, held, {
      0: (_, ledger) => {
        earlier.push(observe(ledger.submitAndWaitForTransaction(waiting, { recover: false })));
      },
    });
    expect(earlier[0]?.error).toMatchObject({ name: 'OutcomeUnknownError' });
    expect(node.commits).toHaveLength(1);
    expect(seen.values).toMatchObject([{ offset: node.commits[0]?.offset, isRepeated: true }]);
    expect(seen.endedAt).toBeLessThan(30_000);
  });

  it('is not that of another command id', () => {
    const other: Steps = {
      1_000: (node) => node.appendOther('order-2', { userId: 'me', submissionId: 'canton-rx/1/other' }),
    };
    const { node, seen } = submit(waiting, {}, held, other);
    expect(seen.values).toMatchObject([{ offset: node.commits[0]?.offset }]);
  });

  it('is not that of an earlier call if the caller limits how far back the same change counts', () => {
    const period = { DeduplicationDuration: { value: { seconds: 1, nanos: 0 } } };
    const limited = { ...create, deduplicationPeriod: period };
    const later: Observed<unknown>[] = [];
    const { seen } = submit(
      limited,
      {},
      { faults: [null, { kind: 'slow', ms: 60_000 }] },
      { 200_000: (_, ledger) => later.push(observe(ledger.submitAndWaitForTransaction(limited))) },
    );
    expect([seen, ...later].map(({ values }) => values)).toMatchObject([[{ offset: 11 }], [{ offset: 12 }]]);
  });

  it.each(['consume', 'nonConsuming'] as const)(
    'is refused soon after another party has archived its contract: %s',
    (kind) => {
      const request = { ...exercise, minLedgerTimeRel: { seconds: 24 } };
      const { node, seen } = submit(
        request,
        {},
        { ...held, kind },
        {
          5_000: (its) => {
            its.archive();
          },
        },
      );
      expect(node.commits).toHaveLength(0);
      expect(seen.error).toMatchObject({ name: 'SubmissionRejectedError', code: 'CONTRACT_NOT_FOUND' });
      expect(seen.endedAt).toBeLessThan(30_000);
    },
  );

  it('is refused in the same way if it has two subscriptions', () => {
    const request = { ...exercise, minLedgerTimeRel: { seconds: 24 } };
    const archival: Steps = {
      5_000: (node) => {
        node.archive();
      },
    };
    const { all } = submit(request, {}, { ...held, kind: 'consume' }, archival, 2);
    for (const { error, endedAt } of all) {
      expect(error).toMatchObject({ name: 'SubmissionRejectedError', code: 'CONTRACT_NOT_FOUND' });
      expect(endedAt).toBeLessThan(60_000);
    }
  });

  it('is found although another party has archived its contract afterwards', () => {
    const request = { ...exercise, minLedgerTimeRel: { seconds: 24 } };
    const { node, seen } = submit(
      request,
      {},
      { ...held, kind: 'nonConsuming' },
      {
        30_000: (its) => {
          its.archive();
        },
      },
    );
    expect(seen.values).toMatchObject([{ offset: node.commits[0]?.offset }]);
  });
});

describe('a commit of an earlier process that nothing of the caller names', () => {
  const day = 24 * 3_600;
  it.each([
    ['is the change, if the period is so long that clocks do not matter', day, 11],
    ['is another one, if it is shorter', day / 2 - 1, 'SubmissionRejectedError'],
  ] as const)('%s', (_, seconds, expected) => {
    const deduplicationPeriod = { DeduplicationDuration: { value: { seconds, nanos: 0 } } };
    const lost: CommandFault = { kind: 'lostRequest', how: '503' };
    const { seen } = submit(
      { ...create, deduplicationPeriod },
      {},
      { faults: [lost, refused, refused, refused, refused] },
      { 100: (node) => node.appendOther('order-1', { userId: 'me', submissionId: 'canton-rx/1/a' }) },
    );
    expect(outcomeOf(seen)).toBe(expected);
  });
});
