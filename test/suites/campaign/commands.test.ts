import process from 'node:process';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { asyncScheduler } from 'rxjs';
import { createLedger, type DeduplicationPeriod, isLedgerError, type Ledger } from '../../../src/index.js';
import { observe, type Observed } from '../../helpers/observe.js';
import { scriptedService } from '../../helpers/scripted.js';
import { marbles } from '../../helpers/time.js';
import { type CommandFault, type Loss, refusalCodes, rejectionCodes } from '../../helpers/CommandService.js';
import { type CommandPlan, contractId, VirtualCommands } from '../../helpers/virtualCommands.js';
import { campaignRuns, formatCounts, increase, randomFrom } from './runs.js';

const { numRuns, seed, isMany, endOnFailure } = campaignRuns(400, 5_000);

/** What others do meanwhile, and when. */
type Event =
  | { readonly kind: 'archive' | 'prune' | 'other' | 'sameCommandId' | 'reassign'; readonly atMs: number }
  /** The connection is cut for a while. */
  | { readonly kind: 'down'; readonly atMs: number; readonly forMs: number }
  /** The process ends, and the next one continues with `since`. */
  | { readonly kind: 'restart'; readonly atMs: number };

interface Schedule extends CommandPlan {
  readonly seed: number;
  readonly events: readonly Event[];
  readonly hasCommandId: boolean;
  readonly recovers: boolean;
  /** The caller's deduplication period. */
  readonly period: DeduplicationPeriod | undefined;
}

const loss = fc.constantFrom<Loss>('reset', 'silence', '503', '502', 'garbled');

const fault: fc.Arbitrary<CommandFault> = fc.oneof(
  fc.constant<CommandFault>({ kind: 'refusedConnection' }),
  fc.record({ kind: fc.constant('lostRequest' as const), how: loss }),
  fc.record({ kind: fc.constant('refused' as const), code: fc.constantFrom(...keysOf(refusalCodes)) }),
  fc.record({
    kind: fc.constant('rejected' as const),
    code: fc.constantFrom(...keysOf(rejectionCodes)),
    afterMs: fc.nat(5_000),
  }),
  fc.record({ kind: fc.constant('slow' as const), ms: fc.nat(110_000) }),
  fc.record({ kind: fc.constant('lostResponse' as const), how: loss, afterMs: fc.nat(5_000) }),
  fc.record({
    kind: fc.constant('failedAfterCommit' as const),
    code: fc.constantFrom('UPDATE_NOT_FOUND' as const, 'INDEX_DB_SQL_TRANSIENT_ERROR' as const, 'NA' as const),
  }),
);

const atMs = fc.oneof(fc.nat(2_000), fc.nat(60_000), fc.nat(200_000));

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({
    kind: fc.constantFrom(
      'archive' as const,
      'prune' as const,
      'other' as const,
      'sameCommandId' as const,
      'reassign' as const,
    ),
    atMs,
  }),
  fc.record({ kind: fc.constant('down' as const), atMs, forMs: fc.nat(30_000) }),
  fc.record({ kind: fc.constant('restart' as const), atMs }),
);

const period = fc.constantFrom<DeduplicationPeriod>(
  { Empty: {} },
  { DeduplicationOffset: { value: 0 } },
  { DeduplicationOffset: { value: 999 } },
  { DeduplicationDuration: { value: { seconds: 1 } } },
  { DeduplicationDuration: { value: { seconds: 86_400 } } },
);

const schedule: fc.Arbitrary<Schedule> = fc.record({
  seed: fc.nat(),
  kind: fc.constantFrom('create' as const, 'consume' as const, 'nonConsuming' as const),
  latencyMs: fc.integer({ min: 1, max: 300 }),
  hasCheckpoints: fc.boolean(),
  completions: fc.constantFrom('completions' as const, 'command-completions' as const),
  faults: fc.array(fc.option(fault, { freq: 8 }), { maxLength: 6 }),
  events: fc.array(event, { maxLength: 4 }),
  hasCommandId: fc.boolean(),
  recovers: fc.boolean(),
  period: fc.option(period, { nil: undefined }),
});

interface Played {
  readonly node: VirtualCommands;
  readonly seen: Observed<unknown>;
  /** The ends of the processes before the last one. */
  readonly isPruned: boolean;
  readonly isRestarted: boolean;
}

function play(plan: Schedule): Played {
  let played: Played | undefined;
  const random = Math.random;
  Math.random = randomFrom(plan.seed);
  try {
    marbles(({ flush }) => {
      const node = new VirtualCommands(plan);
      const service = scriptedService(node.reply);
      const commandId = 'order-1';
      const start = (since?: number) => observe(submit(connect(), plan, since));
      const connect = (): Ledger => createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      let seen = start();
      let isPruned = false;
      let isRestarted = false;
      for (const event of plan.events)
        asyncScheduler.schedule(() => {
          switch (event.kind) {
            case 'archive':
              node.archive();
              break;
            case 'prune':
              isPruned = true;
              node.prune();
              break;
            case 'other':
              node.appendOther('');
              break;
            case 'sameCommandId':
              node.appendOther(commandId);
              break;
            case 'reassign':
              node.reassign(commandId);
              break;
            case 'down':
              node.goDown(event.forMs);
              break;
            case 'restart':
              // a command id that only the process that ended has known is of no use to the next one
              if (!plan.hasCommandId || seen.completed || seen.error !== undefined) return;
              isRestarted = true;
              seen.subscription.unsubscribe();
              seen = start(10);
          }
        }, event.atMs);
      flush();
      played = { node, seen, isPruned, isRestarted };
    });
  } finally {
    Math.random = random;
  }
  if (played === undefined) throw new Error('nothing was played');
  return played;
}

const submit = (ledger: Ledger, { hasCommandId, kind, recovers, period }: Schedule, since: number | undefined) =>
  ledger.submitAndWaitForTransaction(
    {
      actAs: ['alice::1220'],
      userId: 'me',
      ...(hasCommandId && { commandId: 'order-1' }),
      ...(period !== undefined && { deduplicationPeriod: period }),
      commands: [
        kind === 'create'
          ? { CreateCommand: { templateId: '#p:M:T', createArguments: {} } }
          : { ExerciseCommand: { templateId: '#p:M:T', contractId, choice: 'Act', choiceArgument: {} } },
      ],
    },
    { ...(!recovers && { recover: false as const }), ...(since !== undefined && { since }) },
  );

describe('commands of hosted parties', () => {
  it('are committed at most once, and their outcome is that of the ledger or named (G59)', () => {
    const ends = new Map<string, number>();
    const open = new Map<string, number>();
    fc.assert(
      fc.property(schedule, (plan) => {
        const { node, seen, isPruned } = play(plan);
        const { commits } = node;
        expect(commits.length).toBeLessThanOrEqual(1);
        const [commit] = commits;
        if (seen.completed) {
          expect(seen.values).toMatchObject([{ _tag: 'Transaction', offset: commit?.offset }]);
        } else if (!isLedgerError(seen.error, 'OutcomeUnknownError')) {
          expect(isLedgerError(seen.error, 'SubmissionRejectedError', 'NotSentError')).toBe(true);
          expect(commits).toEqual([]);
        } else if (!isPruned && plan.recovers) {
          increase(open, plan.hasCheckpoints ? 'with checkpoints' : 'without checkpoints');
        }
        increase(ends, endOf(seen));
      }),
      { numRuns, seed, endOnFailure },
    );
    process.stdout.write(
      `campaign: commands: ${formatCounts(ends)}; unknown though nothing was pruned: ${formatCounts(open)}\n`,
    );
    // the time may be used up by slow attempts and outages
    expect(open.get('with checkpoints') ?? 0).toBeLessThanOrEqual(numRuns / 1_000);
    for (const end of isMany
      ? ['committed', 'repeated', 'SubmissionRejectedError', 'OutcomeUnknownError', 'NotSentError']
      : [])
      expect([end, ends.get(end)]).not.toEqual([end, undefined]);
  });
});

function endOf({ completed, values, error }: Observed<unknown>): string {
  if (!completed) return error instanceof Error ? error.name : 'nothing';
  const [value] = values;
  return typeof value === 'object' && value !== null && 'isRepeated' in value ? 'repeated' : 'committed';
}

function keysOf<K extends string>(record: Readonly<Record<K, unknown>>): readonly K[] {
  return Object.keys(record) as K[];
}
