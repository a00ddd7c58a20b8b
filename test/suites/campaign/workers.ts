import {
  concat,
  concatMap,
  defer,
  EMPTY,
  map,
  NEVER,
  type Observable,
  of,
  queueScheduler,
  take,
  throwError,
} from 'rxjs';
import { Agenda } from '../../../src/automation/Agenda.js';
import { Effects } from '../../../src/automation/Effects.js';
import { noMemory } from '../../../src/automation/Memory.js';
import type { Acted, Rule } from '../../../src/automation/Rule.js';
import { workOn } from '../../../src/automation/work.js';
import type { Contract } from '../../../src/contracts/Contract.js';
import type { ContractSet } from '../../../src/contracts/ContractSet.js';
import type { View } from '../../../src/contracts/LiveState.js';
import { noWork } from '../../../src/dispatch/dispatch.js';
import { Places } from '../../../src/dispatch/Places.js';
import { readContractEvents } from '../../../src/feed/contractEvents.js';
import {
  type Command,
  type CommandsRequest,
  isLedgerError,
  type Ledger,
  type SubmittedTransaction,
} from '../../../src/index.js';
import { clientOf } from '../../../src/ledger/clientOf.js';
import type { OutboxRow, OutboxRows, RowChange } from '../../../src/postgres/outbox/OutboxRows.js';
import type { Submitted } from '../../../src/postgres/outbox/outcome.js';
import { sendCommands } from '../../../src/postgres/outbox/sendCommands.js';
import { Stopper } from '../../../src/process/Stop.js';

/** A rule or an outbox with one thing to do, in the life of a process. */
export interface Worker {
  (ledger: Ledger, recovers: boolean): Observable<WorkerEvent>;
  /** Its database loses what it has saved of attempts. */
  readonly restore?: () => void;
}

/** What a worker says: a commit, that nothing was committed so far, or that the outcome is not known yet. */
export type WorkerEvent =
  | { readonly kind: 'committed'; readonly transaction: SubmittedTransaction | undefined; readonly offset: number }
  | { readonly kind: 'refused' | 'unknown'; readonly error: unknown };

const retry = { baseDelayMs: 1_000, maxDelayMs: 60_000, giveUpAfterMs: Infinity };

/** Creates an outbox with one command. Its rows outlive a process. */
export function outboxWith(request: CommandsRequest): Worker {
  const rows = new MemoryRows(request);
  const send = (ledger: Ledger, recovers: boolean) =>
    defer(() => {
      const client = clientOf(ledger);
      return sendCommands({
        ...{ ledger, client, places: new Places(4), pollMs: 1_000, keepMs: Infinity, retry, name: 'outbox' },
        ...{ recover: recovers ? undefined : false, decide: {}, decideTimeoutMs: 1_000 },
        ...new Stopper(undefined).begin(),
        rows: rows as unknown as OutboxRows,
      });
    }).pipe(concatMap((submitted) => (submitted === undefined ? [] : [eventOf(submitted)])));
  return Object.assign(send, {
    restore: () => {
      rows.restore();
    },
  });
}

function eventOf(submitted: Submitted): WorkerEvent {
  if (submitted._tag === 'Dropped') throw new Error('nothing is dropped');
  if (submitted._tag !== 'Committed')
    return { kind: submitted._tag === 'Rejected' ? 'refused' : 'unknown', error: submitted.error };
  return { kind: 'committed', transaction: submitted.transaction, offset: submitted.offset };
}

/** The table of an outbox with one row, whose clock is that of the database. */
class MemoryRows implements Pick<OutboxRows, 'due' | 'begin' | 'record' | 'dropped' | 'counts' | 'deleteOld'> {
  private row: OutboxRow<CommandsRequest>;
  private readonly first: OutboxRow<CommandsRequest>;
  private state: RowChange['state'] = 'pending';
  private retryAt = 0;
  private readonly enqueuedAt = queueScheduler.now();

  constructor(request: CommandsRequest) {
    const { commandId, ...rest } = request;
    this.row = {
      ...{ id: 1, commandId: commandId ?? '', key: undefined, request: rest, decide: undefined },
      ...{ mayBeCommitted: false, since: NaN, participant: undefined, position: undefined, failures: 0 },
      ...{ refusals: 0, ageMs: 0 },
    };
    this.first = this.row;
  }

  restore(): void {
    this.row = this.first;
    this.state = 'pending';
    this.retryAt = 0;
  }

  due(_limit: number, sending: readonly number[]): Observable<readonly OutboxRow[]> {
    const isDue = this.state === 'pending' && !sending.includes(1) && this.retryAt <= queueScheduler.now();
    return of(isDue ? [{ ...this.row, ageMs: queueScheduler.now() - this.enqueuedAt }] : []);
  }

  begin: OutboxRows['begin'] = ([begun]) => {
    const { row } = this;
    if (begun === undefined) return of([]);
    const { offset: since, participantId: participant } = begun.position;
    const isKept = row.mayBeCommitted || (row.since <= since && row.participant === participant);
    const position = row.mayBeCommitted ? row.position : begun.position;
    this.row = { ...row, ...(!isKept && { since, participant }), position, mayBeCommitted: true };
    return of([{ ...begun, row: { ...this.row, mayBeCommitted: row.mayBeCommitted } }]);
  };

  record(_row: OutboxRow, change: RowChange): Observable<unknown> {
    const {
      state,
      mayBeCommitted,
      delayMs = 0,
      forgetsSince = false,
      concernsAll = false,
      isLimited,
      sentAfter,
    } = change;
    const failures = this.row.failures + (concernsAll ? 0 : 1);
    const refusals = isLimited === true ? this.row.refusals + 1 : 0;
    const start = sentAfter && {
      ...{ since: sentAfter.offset, participant: sentAfter.participantId, position: sentAfter },
    };
    this.row = { ...this.row, ...start, mayBeCommitted, failures, refusals, ...(forgetsSince && { since: NaN }) };
    this.state = state;
    this.retryAt = queueScheduler.now() + delayMs;
    return of(true);
  }

  dropped = (): Observable<readonly number[]> => of([]);
  counts = (): Observable<typeof noWork> => of(noWork);
  deleteOld = (): Observable<unknown> => EMPTY;
}

/** Creates a rule that acts on one contract, which its view always has. */
export function ruleWith(contractId: string, command: Command, saysConsumes: boolean): Worker {
  const contract = {
    ...{ _tag: 'Contract', contractId, templateId: '#p:M:T', reassignmentCounter: 0, offset: 1, payload: {} },
    ...{ createdAt: '2026-07-24T00:00:00Z', location: { synchronizerId: 'global::1220' } },
  } as unknown as Contract;
  const all = new Map([[contractId, contract]]);
  const contracts = Object.assign(
    { [Symbol.iterator]: () => all.values(), toArray: () => [contract] },
    {
      has: (id: string) => all.has(id),
    },
  ) as unknown as ContractSet;
  const items = [{ _tag: 'Reset', reason: 'start', offset: 10, contracts: [contract] }];
  const view = { isLive: true, connection: { status: 'open' }, known: { contracts, offset: 10, items } };
  const rule = {
    ...{ name: 'order', query: { parties: ['alice::1220'] }, actAs: ['alice::1220'], userId: 'me' },
    ...(saysConsumes && { consumes: true }),
    act: () => command,
  } satisfies Rule;
  return (ledger, recovers) =>
    defer(() => {
      const client = clientOf(ledger);
      const agenda = new Agenda(rule, new Places(4));
      const run = {
        ...{ rule, agenda, memory: noMemory, effects: new Effects(rule, noMemory), retry, actTimeoutMs: 1_000 },
        stop: new Stopper(undefined).begin(),
        readCreatedOffset: (id: string) =>
          readContractEvents(client, id, rule.query).pipe(map(({ created }) => created?.offset)),
        submit: (request: CommandsRequest) =>
          ledger.submitAndWaitForTransaction(request, recovers ? {} : { recover: false }),
      };
      return workOn(run, concat(of(view as unknown as View<Contract>), NEVER), client);
    }).pipe(map(ruleEvent));
}

function ruleEvent(acted: Acted): WorkerEvent {
  if (acted._tag === 'Obsolete') throw new Error('the view has the contract');
  if (acted._tag === 'Committed')
    return { kind: 'committed', transaction: acted.transaction, offset: acted.transaction.offset };
  const { error } = acted;
  if (!isLedgerError(error, 'OutcomeUnknownError')) return { kind: 'refused', error };
  const { completionOffset: offset } = error;
  // it is committed: the rule has done its work, and cannot read it
  return offset === undefined ? { kind: 'unknown', error } : { kind: 'committed', transaction: undefined, offset };
}

/** The submission of a worker, as its caller sees it: until it is committed. Passes on what it says before that. */
export const untilCommitted = (
  events$: Observable<WorkerEvent>,
  note: (event: WorkerEvent) => void,
): Observable<SubmittedTransaction> =>
  events$.pipe(
    concatMap((event) => {
      note(event);
      if (event.kind !== 'committed') return EMPTY;
      const { transaction } = event;
      // it is known to be committed, and its transaction cannot be read
      return transaction === undefined ? throwError(() => new UnreadError(event.offset)) : of(transaction);
    }),
    take(1),
  );

/** A commit whose transaction cannot be read. */
export class UnreadError extends Error {
  constructor(readonly offset: number) {
    super(`committed at ${offset}`);
    this.name = 'UnreadError';
  }
}
