import { describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, lastValueFrom, merge, type Observable, take, throwError, timer, toArray } from 'rxjs';
import {
  type Acted,
  type ActionRequest,
  automate,
  type AutomationOptions,
  type Rule,
  RuleError,
} from '../../src/automation/index.js';
import { ApiError } from '../../src/errors/ApiError.js';
import { PrunedError } from '../../src/errors/feed.js';
import { OutcomeUnknownError } from '../../src/errors/LedgerError.js';
import { type Submission, SubmissionRejectedError } from '../../src/errors/submission.js';
import { type Command, type Ledger, ledgerEffects, type SubmittedTransaction } from '../../src/index.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { type CheckpointStore, memoryStore, processFeed, updatesFeed } from '../../src/process/index.js';
import { cantonError } from '../../src/sandbox/index.js';
import { sandboxes } from '../helpers/localServers.js';
import { until } from '../helpers/time.js';

const newSandbox = sandboxes();
const templateId = '#sandbox-assets:Main:Asset';
const submitPath = '/v2/commands/submit-and-wait-for-transaction';
const options: AutomationOptions = { retry: { baseDelayMs: 20, maxDelayMs: 200 } };

const exercise = (contractId: string, choice: string): Command => ({
  ExerciseCommand: { templateId, contractId, choice, choiceArgument: {} },
});

/** A ledger with assets of one party, numbered from 0, and rules for them. */
async function world(count: number) {
  // it forgets what it prunes
  const sandbox = await newSandbox({ defaultDeduplicationMs: 0 });
  const alice = sandbox.hostedParty('alice');
  const newLedger = () => createLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 20, maxDelayMs: 200 } });
  const ledger = newLedger();
  const create = (serial: number): Command => ({
    CreateCommand: { templateId, createArguments: { owner: alice, amount: '1.0', tag: null, serial: String(serial) } },
  });
  const submit = (...commands: Command[]) =>
    lastValueFrom(ledger.submitAndWaitForTransaction({ userId: 'app', actAs: [alice], commands }));
  await submit(...Array.from({ length: count }, (_, serial) => create(serial)));
  const rule = (choice: 'Archive' | 'Touch', more: Partial<Rule> = {}): Rule => ({
    name: choice.toLowerCase(),
    query: { parties: [alice] },
    actAs: [alice],
    userId: 'app',
    act: ({ contractId }) => exercise(contractId, choice),
    ...more,
  });
  const submissions = () => sandbox.requests.filter(({ path }) => path === submitPath).length;
  return { sandbox, alice, ledger, newLedger, create, submit, rule, submissions };
}

const tags = (acted: readonly Acted[]): readonly string[] => acted.map(({ _tag }) => _tag);
const first = (acted$: Observable<Acted>, count: number) => firstValueFrom(acted$.pipe(take(count), toArray()));

/** Submits over a ledger, but for the first time. */
function failingOnce(ledger: Ledger, errorOf: (submission: Submission) => Error) {
  let count = 0;
  return (request: ActionRequest): Observable<SubmittedTransaction> => {
    count += 1;
    const { commandId, actAs } = request;
    const submission = { submissionId: '1', commandId, userId: 'app', actAs, sentAt: 0, since: 0, attempts: 1 };
    return count > 1 ? ledger.submitAndWaitForTransaction(request) : throwError(() => errorOf(submission));
  };
}

describe('a rule, over HTTP', () => {
  it('acts once on each contract, whenever its runs are abandoned (G63)', async () => {
    const { sandbox, newLedger, rule } = await world(40);
    const consumed = rule('Archive');
    const isDone = (): boolean => sandbox.updates.length >= 41;
    for (let runs = 1; !isDone() && runs <= 100; runs += 1) {
      const before = sandbox.requests.length;
      const run = automate(newLedger(), consumed, options).subscribe();
      // after a number of requests, not a time: a slow machine may not get as far
      await until(() => isDone() || sandbox.requests.length >= before + runs);
      run.unsubscribe();
    }
    await firstValueFrom(timer(200));
    expect(sandbox.updates).toHaveLength(41);
  });

  it.each(['Archive', 'Touch'] as const)('finds an action whose answer was lost: %s (G64)', async (choice) => {
    const { sandbox, ledger, rule } = await world(3);
    sandbox.fault({ kind: 'reset', when: 'after' }, { path: submitPath, times: 2 });
    const acted = await first(automate(ledger, rule(choice), options), 3);
    expect(tags(acted)).toEqual(['Committed', 'Committed', 'Committed']);
    expect(acted.filter((one) => one._tag === 'Committed' && one.isRepeated)).toHaveLength(2);
    expect(sandbox.updates).toHaveLength(4);
  });

  it.each(['Archive', 'Touch'] as const)('acts once in two processes: %s (G65)', async (choice) => {
    const { sandbox, newLedger, rule } = await world(20);
    const run = () => automate(newLedger(), rule(choice), options);
    const running = merge(run(), run()).subscribe();
    await until(() => sandbox.updates.length >= 21);
    await firstValueFrom(timer(300));
    running.unsubscribe();
    expect(sandbox.updates).toHaveLength(21);
  });

  it('submits no action that does not archive its contract before the store has it (G73)', async () => {
    const { sandbox, ledger, rule, submissions } = await world(4);
    const memory = memoryStore();
    let failures = 3;
    let submitted: number | undefined;
    const store: CheckpointStore = {
      load: (name) => memory.load(name),
      save: (name, cursor) => {
        failures -= 1;
        if (failures >= 0) return throwError(() => new Error('full'));
        submitted ??= submissions();
        return memory.save(name, cursor, undefined);
      },
    };
    const acted = await first(automate(ledger, rule('Touch'), { ...options, store }), 4);
    expect(tags(acted)).toEqual(Array(4).fill('Committed'));
    // only the contracts of this test
    expect(submitted).toBe(1);
    expect(sandbox.updates).toHaveLength(5);
  });
});

describe('a rule with the name and the store of a processor', () => {
  /** What a processor handles of the same updates until it has caught up, or its error. */
  const processed = async (ledger: Ledger, store: CheckpointStore, alice: string) => {
    const offsets: number[] = [];
    const request = { beginExclusive: 0, updateFormat: ledgerEffects({ parties: [alice] }) };
    const feed = updatesFeed(ledger, request, { onSelectionChange: 'continue' });
    const handler = ({ offset }: { readonly offset: number }): void => void offsets.push(offset);
    const run$ = processFeed(feed, handler, { name: 'touch', store });
    const error = await firstValueFrom(run$.pipe(filter(({ isCaughtUp }) => isCaughtUp))).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return { offsets, error };
  };
  const refused = { _tag: 'CursorError', reason: 'selection' };

  it('does not move the cursor of the processor', async () => {
    const { sandbox, alice, ledger, rule, submit, create } = await world(2);
    const store = memoryStore();
    const { offsets } = await processed(ledger, store, alice);
    expect(offsets).toHaveLength(1);
    await submit(create(3));
    const acted = await first(automate(ledger, rule('Touch'), { ...options, store }), 1).catch(
      (error: unknown) => error,
    );
    expect(acted).toMatchObject(refused);
    await submit(create(4));
    expect((await processed(ledger, store, alice)).offsets).toHaveLength(sandbox.updates.length - 1);
  });

  it('keeps its record from the processor', async () => {
    const { alice, ledger, rule } = await world(2);
    const store = memoryStore();
    await first(automate(ledger, rule('Touch'), { ...options, store }), 2);
    expect(await processed(ledger, store, alice)).toMatchObject({ offsets: [], error: refused });
  });
});

describe('a rule over a participant that is restored from a backup', () => {
  it('does not compare the offsets of before with where the participant is pruned (G70)', async () => {
    const { sandbox, newLedger, rule, submit, create } = await world(1);
    sandbox.generate(20, { seed: 6 });
    const { events, offset: createdAt } = await submit(create(1));
    const [created] = events;
    const contractId = created?._tag === 'CreatedEvent' ? created.contractId : '';
    const touching = (more: Partial<Rule>) =>
      rule('Touch', { where: (contract) => contract.contractId === contractId, ...more });
    let isDue = false;
    const ledger = newLedger();
    const later = automate(ledger, touching({ dueAt: () => (isDue ? new Date(0) : undefined) }), options);
    const acted: Acted[] = [];
    const moved = firstValueFrom(ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'PositionMoved')));
    const running = later.subscribe((one) => acted.push(one));
    await firstValueFrom(later.status$.pipe(filter(({ state }) => state === 'running')));
    const [committed] = await first(automate(newLedger(), touching({}), options), 1);
    expect(tags(committed === undefined ? [] : [committed])).toEqual(['Committed']);
    sandbox.restore(2, { readAgain: true });
    await moved;
    const actions = (): readonly number[] =>
      sandbox.updates.flatMap((update) =>
        'Transaction' in update && update.Transaction.value.commandId === `touch:${contractId}`
          ? [update.Transaction.value.offset]
          : [],
      );
    const [actedAt = 0] = actions();
    // otherwise the offset of before is safe by chance
    expect(actedAt).toBeLessThan(createdAt);
    sandbox.prune(actedAt);
    isDue = true;
    await submit(create(2));
    await until(() => acted.length > 0);
    running.unsubscribe();
    expect(tags(acted)).toEqual(['Failed']);
    expect(actions()).toEqual([actedAt]);
  });
});

describe('a rule over a participant that is pruned', () => {
  it('needs done or a store for actions that do not archive their contract when the participant is pruned (G70)', async () => {
    const { sandbox, newLedger, rule, submit, create } = await world(3);
    const store = memoryStore();
    await first(automate(newLedger(), rule('Touch'), { ...options, store }), 3);
    sandbox.prune(sandbox.ledgerEnd);
    const bare = await first(automate(newLedger(), rule('Touch'), options), 3);
    expect(
      bare.map((acted) => acted._tag === 'Failed' && acted.error instanceof RuleError && acted.error.reason),
    ).toEqual(['pruned', 'pruned', 'pruned']);
    expect(bare.some((acted) => 'retryAt' in acted)).toBe(false);
    // a new store would let it act again on what these runs may have acted on
    expect(bare.map((acted) => acted._tag === 'Failed' && String(acted.error))).toContainEqual(
      expect.stringContaining('A store knows nothing of runs without it'),
    );
    // the store knows, and so does done; new contracts, and actions that archive their contract, are not affected
    const quiet = merge(
      automate(newLedger(), rule('Touch'), { ...options, store }),
      automate(newLedger(), rule('Touch', { name: 'other', done: () => true }), options),
    );
    const seen: Acted[] = [];
    const running = quiet.subscribe((acted) => seen.push(acted));
    await submit(create(3));
    await until(() => seen.length === 1);
    running.unsubscribe();
    expect(tags(seen)).toEqual(['Committed']);
    expect(tags(await first(automate(newLedger(), rule('Archive'), options), 4))).toEqual(Array(4).fill('Committed'));
    expect(sandbox.updates).toHaveLength(1 + 3 + 2 + 4);
  });

  it('resumes with a store after an action that neither creates nor archives', async () => {
    const { ledger, rule } = await world(1);
    const touch = rule('Touch');
    const store = memoryStore();
    await firstValueFrom(automate(ledger, touch, { ...options, store }));
    const again = automate(ledger, { ...touch, round: () => '2' }, { ...options, store });
    expect(await firstValueFrom(again)).toMatchObject({ _tag: 'Committed' });
  });

  it('decides again if the contracts lag the pruned offset, and done may show an action before it', async () => {
    let decisions = 0;
    const { sandbox, create, submit, ledger, rule } = await world(1);
    const undone = rule('Touch', {
      done: () => {
        decisions += 1;
        return false;
      },
    });
    const context = { earliest_offset: String(sandbox.ledgerEnd + 1) };
    const refusal = new ApiError({
      path: submitPath,
      status: 400,
      canton: {
        ...cantonError('INVALID_DEDUPLICATION_PERIOD', { context }),
        correlationId: '',
        traceId: '',
        grpcCodeValue: 9,
        retryInfo: '',
        definiteAnswer: true,
      },
    });
    const failing = failingOnce(ledger, (submission) => new SubmissionRejectedError(refusal, submission));
    const acting = firstValueFrom(automate(ledger, undone, { ...options, submit: failing }));
    await until(() => decisions > 0);
    expect(decisions).toBe(1);
    await submit(create(1));
    expect(await acting).toMatchObject({ _tag: 'Committed' });
    expect(decisions).toBeGreaterThan(1);
  });

  it.each([
    ['decides again on an action that archives its contract', 'Archive' as const, ['Failed', 'Committed']],
    ['gives up another action, and acts in the next round', 'Touch' as const, ['Failed', 'Committed']],
  ])('%s, when an outcome is lost', async (_, choice, expected) => {
    let round = 1;
    const { create, submit, ledger, rule } = await world(1);
    const serialOf = (argument: unknown) => (argument as { readonly serial: string }).serial;
    const inRounds = rule(choice, {
      where: ({ createdEvent }) => serialOf(createdEvent.createArgument) === '0',
      round: () => String(round),
    });
    const pruned = new PrunedError('/v2/updates', 5);
    const failing = failingOnce(ledger, (submission) => new OutcomeUnknownError(submission, pruned));
    const acted$ = automate(ledger, inRounds, { ...options, submit: failing });
    const acting = lastValueFrom(acted$.pipe(take(2), toArray()));
    const failed = await firstValueFrom(ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'ActionFailed')));
    expect('retryAt' in failed).toBe(choice === 'Archive');
    if (choice === 'Touch') {
      round = 2;
      await submit(create(1));
    }
    const acted = await acting;
    expect(tags(acted)).toEqual(expected);
    expect(acted[1]).toMatchObject({ transaction: { commandId: expect.stringMatching(round === 2 ? /:2$/ : /:1$/) } });
  });
});
