import { describe, expect, it } from '@jest/globals';
import {
  firstValueFrom,
  from,
  lastValueFrom,
  map,
  merge,
  type Observable,
  take,
  tap,
  throwError,
  timer,
  toArray,
} from 'rxjs';
import {
  type Acted,
  automate,
  type AutomationOptions,
  type AutomationStatus,
  type Rule,
  toAutomationStatus,
} from '../../src/automation/index.js';
import type { Command } from '../../src/codecs/Command.js';
import { ConnectionError } from '../../src/errors/request.js';
import { isLedgerError, OutcomeUnknownError } from '../../src/errors/LedgerError.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { type CheckpointStore, memoryStore } from '../../src/process/index.js';
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

/** The serial of a contract. */
const serialOf = ({ createdEvent }: Parameters<Rule['act']>[0]): number =>
  Number((createdEvent.createArgument as { readonly serial: string }).serial);

describe('a rule, over HTTP', () => {
  it('acts once on each contract, whenever its runs are abandoned (G63)', async () => {
    const { sandbox, newLedger, rule } = await world(40);
    const consumed = rule('Archive');
    for (let runs = 0; sandbox.updates.length < 41 && runs < 100; runs += 1) {
      const run = automate(newLedger(), consumed, options).subscribe();
      await firstValueFrom(timer(20 + 5 * runs));
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

  it('acts in one of two processes with a store, and in the other when it ends (G65)', async () => {
    const { newLedger, rule, submit, create, submissions } = await world(5);
    const store = memoryStore();
    const seen: (AutomationStatus | undefined)[] = [];
    const run = (index: number) =>
      automate(newLedger(), rule('Touch'), { ...options, store })
        .pipe(toAutomationStatus({ everyMs: 20 }))
        .subscribe((status) => (seen[index] = status));
    const leader = run(0);
    await until(() => seen[0]?.role === 'leader' && seen[0].committed === 5);
    const standby = run(1);
    await until(() => seen[1]?.role === 'standby');
    leader.unsubscribe();
    await until(() => seen[1]?.role === 'leader');
    await submit(create(5));
    await until(() => seen[1]?.committed === 1);
    standby.unsubscribe();
    // nothing was submitted a second time
    expect(submissions()).toBe(8);
  });

  it('decides again after a lock, and has nothing to do when another transaction was faster (G66)', async () => {
    const { sandbox, ledger, rule, submit } = await world(2);
    sandbox.fault({ kind: 'reject', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS' }, { path: submitPath, times: 6 });
    const attempts: number[] = [];
    const once = rule('Archive', {
      act: ({ contractId }, { attempt }) => {
        attempts.push(attempt);
        return exercise(contractId, 'Archive');
      },
    });
    expect(tags(await first(automate(ledger, once, { ...options, concurrency: 1 }), 2))).toEqual([
      'Committed',
      'Committed',
    ]);
    expect(Math.max(...attempts)).toBeGreaterThan(1);

    await submit({
      CreateCommand: { templateId, createArguments: { owner: once.actAs[0], amount: '1.0', tag: null, serial: '9' } },
    });
    const late = rule('Archive', {
      name: 'late',
      // the other transaction comes between the decision and the submission
      act: ({ contractId }) =>
        from(submit(exercise(contractId, 'Archive'))).pipe(map(() => exercise(contractId, 'Archive'))),
    });
    const seen: Acted[] = [];
    const running = automate(ledger, late, options).subscribe((acted) => seen.push(acted));
    await firstValueFrom(timer(700));
    running.unsubscribe();
    expect(seen.filter(({ _tag }) => _tag !== 'Obsolete')).toEqual([]);
    expect(sandbox.updates).toHaveLength(5);
  });

  it('fails for a contract alone, and tries it again later, less and less often (G67)', async () => {
    const { ledger, rule, submissions } = await world(30);
    const bad = [
      (contractId: string) => exercise(contractId, 'Nonsense'),
      () => {
        throw new Error('no price');
      },
      () => new Promise<never>(() => undefined),
    ];
    const some = rule('Archive', {
      act: (contract) => {
        const serial = serialOf(contract);
        return serial < 3
          ? (bad[serial] ?? exercise)(contract.contractId, 'Archive')
          : exercise(contract.contractId, 'Archive');
      },
    });
    const seen: Acted[] = [];
    const running = automate(ledger, some, { retry: { baseDelayMs: 200 }, actTimeoutMs: 300 }).subscribe((acted) =>
      seen.push(acted),
    );
    await firstValueFrom(timer(3_000));
    running.unsubscribe();
    expect(seen.filter(({ _tag }) => _tag === 'Committed')).toHaveLength(27);
    const failures = seen.flatMap((acted) => (acted._tag === 'Failed' ? [acted] : []));
    expect(new Set(failures.map(({ error }) => reasonOf(error)))).toEqual(new Set(['invalid', 'act', 'timeout']));
    expect(failures.every(({ retryAt }) => retryAt !== undefined)).toBe(true);
    expect(failures.length).toBeLessThan(3 * 6);
    expect(submissions()).toBeLessThan(1 + 27 + 6);
  });

  it.each([
    ['SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', 'paused'],
    ['PARTICIPANT_BACKPRESSURE', 'paused'],
  ])('pauses after %s, and then continues (G68)', async (code, state) => {
    const { sandbox, ledger, rule, submissions } = await world(20);
    sandbox.fault({ kind: 'reject', code }, { path: submitPath, times: 4 });
    const states = new Set<string>();
    const running = automate(ledger, rule('Archive'), { retry: { baseDelayMs: 400 } })
      .pipe(
        toAutomationStatus({ everyMs: 10 }),
        tap((status) => states.add(status.state)),
      )
      .subscribe();
    await until(() => sandbox.updates.length === 21);
    running.unsubscribe();
    expect(states).toContain(state);
    expect(submissions()).toBeLessThanOrEqual(1 + 20 + 4);
  });

  it('begins nothing while the participant cannot be reached, and continues (G68)', async () => {
    const { sandbox, ledger, rule, submit, create, submissions } = await world(1);
    const seen: Acted[] = [];
    const running = automate(ledger, rule('Archive'), options).subscribe((acted) => seen.push(acted));
    await until(() => seen.length === 1);
    const before = submissions();
    await sandbox.restart({ downMs: 500 });
    expect(submissions()).toBe(before);
    await submit(create(1));
    await until(() => seen.length === 2);
    running.unsubscribe();
    expect(tags(seen)).toEqual(['Committed', 'Committed']);
  });

  it('continues with the same commands while an outcome is unknown (G69)', async () => {
    const { ledger, rule } = await world(1);
    let decisions = 0;
    let attempts = 0;
    const submit: AutomationOptions['submit'] = (request) =>
      ledger.submitAndWaitForTransaction(request).pipe(
        map((transaction) => {
          attempts += 1;
          if (attempts <= 2) throw unknown(request.commandId);
          return transaction;
        }),
      );
    const counted = rule('Touch', {
      act: ({ contractId }) => {
        decisions += 1;
        return exercise(contractId, 'Touch');
      },
    });
    expect(tags(await first(automate(ledger, counted, { ...options, submit }), 3))).toEqual([
      'Failed',
      'Failed',
      'Committed',
    ]);
    expect(decisions).toBe(1);
  });

  it('needs done or a store for actions that do not archive their contract when the participant is pruned (G70)', async () => {
    const { sandbox, newLedger, rule, submit, create } = await world(3);
    const store = memoryStore();
    await first(automate(newLedger(), rule('Touch'), { ...options, store }), 3);
    sandbox.prune(sandbox.ledgerEnd);
    const bare = await first(automate(newLedger(), rule('Touch'), options), 3);
    expect(bare.map((acted) => acted._tag === 'Failed' && reasonOf(acted.error))).toEqual([
      'pruned',
      'pruned',
      'pruned',
    ]);
    expect(bare.some((acted) => 'retryAt' in acted)).toBe(false);
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

  it('begins again on a ledger that has replaced the first, and refuses it with a store (G71)', async () => {
    const { sandbox, newLedger, rule, alice } = await world(3);
    const store = memoryStore();
    const seen: Acted[] = [];
    const running = automate(newLedger(), rule('Touch'), options).subscribe((acted) => seen.push(acted));
    const stored = lastValueFrom(automate(newLedger(), rule('Touch', { name: 'stored' }), { ...options, store }));
    const failure = stored.catch((error: unknown) => error);
    await until(() => seen.length === 3 && sandbox.updates.length === 7);
    await sandbox.restart({
      downMs: 300,
      participantId: `participant2::1220${'22'.repeat(32)}`,
      whileDown: () => {
        sandbox.restore(0);
        const createArgument = { owner: alice, amount: '1.0', tag: null, serial: '1' };
        for (let count = 0; count < 20; count += 1) {
          const events = [{ CreatedEvent: { templateId, createArgument, signatories: [alice] } }];
          sandbox.append({ Transaction: { value: { events } } });
        }
      },
    });
    await until(() => seen.length === 23);
    running.unsubscribe();
    expect(isLedgerError(await failure, 'CursorError')).toBe(true);
    expect(sandbox.updates).toHaveLength(40);
  });

  it('finishes what is in progress when it is stopped, and begins nothing (G72)', async () => {
    const { sandbox, ledger, rule, submissions } = await world(50);
    const stopping = new AbortController();
    const acted = await lastValueFrom(
      automate(ledger, rule('Archive'), { ...options, concurrency: 3, signal: stopping.signal }).pipe(
        tap(() => {
          stopping.abort();
        }),
        toArray(),
      ),
    );
    expect(tags(acted)).toEqual(Array(acted.length).fill('Committed'));
    expect(acted.length).toBeLessThanOrEqual(5);
    expect(sandbox.updates).toHaveLength(1 + acted.length);
    const sent = submissions();
    await firstValueFrom(timer(200));
    expect(submissions()).toBe(sent);
  });
});

const reasonOf = (error: unknown): unknown => (error as { readonly reason?: unknown }).reason;

const unknown = (commandId: string): OutcomeUnknownError =>
  new OutcomeUnknownError(
    { submissionId: 'x', commandId, userId: 'app', actAs: [], sentAt: 0, attempts: 1 },
    new ConnectionError('/', 'reset'),
  );
