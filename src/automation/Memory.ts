import * as t from 'io-ts';
import {
  concat,
  concatMap,
  defer,
  EMPTY,
  filter,
  from,
  ignoreElements,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  shareReplay,
  tap,
} from 'rxjs';
import { ledgerEffects } from '../codecs/UpdateFormat.js';
import { optional, text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { Offset } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { reportOf } from '../client/Client.js';
import { type CompleteRetryPolicy, mapError, type RetrySettings, retryTransient } from '../http/retry.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import {
  type CheckpointStore,
  type Cursor,
  decodeRecord,
  type TransactionalStore,
} from '../process/CheckpointStore.js';
import { acquireStore } from '../process/heldStore.js';
import { whileHeld } from '../process/whileHeld.js';
import { rejectedCursor, resumePoint } from '../process/resumePoint.js';
import { lastCalls } from '../process/Stop.js';
import { updatesFeed } from '../process/updatesFeed.js';
import type { Entry, Submission } from './Entry.js';
import type { Acted, Rule } from './Rule.js';

/** What a rule remembers of its actions beyond the life of its process. */
export interface Memory {
  /**
   * Completes when it is saved that an action may have been submitted after an offset.
   *
   * @param moves - how often the participant has got other offsets in this run
   */
  begin(commandId: string, after: Offset, moves: number): Observable<never>;
  /** Notes that the last submission of an action has committed nothing, and will not. Earlier ones may have. */
  refused(commandId: string): void;
  /** Notes that an action is committed. Its transaction may be unreadable. */
  end(commandId: string, transaction?: SubmittedTransaction): void;
  /** Whether an action is known to be committed. */
  has(commandId: string): boolean;
  /** Whether there are actions of a contract in it. */
  hasActionsOf(contractId: string): boolean;
  /** Saves what is not saved yet. */
  flush(): Observable<never>;
  /**
   * Whether no submission can have committed an action before an offset: of earlier runs, and of this one.
   *
   * @param moves - how often the participant has got other offsets in this run
   */
  excludes(commandId: string, earliest: Offset, moves: number): boolean;
}

/** The memory of a rule without a store. */
export const noMemory: Memory = {
  begin: () => EMPTY,
  refused: () => undefined,
  end: () => undefined,
  has: () => false,
  hasActionsOf: () => false,
  flush: () => EMPTY,
  excludes: () => false,
};

/** Works with a memory until the rule is stopped or the ledger is replaced. */
export type Work = (memoryOf: (isGone: (contractId: string) => boolean) => Memory) => Observable<Acted>;

/** What is known of a store. */
export interface StoreState {
  /** Whether another process holds the name. */
  isStandby?: boolean;
  /** Why the store cannot be reached, until it is. */
  storeError?: LedgerError | undefined;
}

/** The store of a rule, and how it is used. */
interface StoreSettings {
  readonly store: CheckpointStore | TransactionalStore<unknown>;
  readonly retry: CompleteRetryPolicy;
  readonly state: StoreState;
}

/** Works while the store is held, with what the rule has saved in it. If the store fails, both begin again. */
export function whileElected(
  ledger: LedgerReader,
  { name, actAs }: Rule,
  { store, retry, state }: StoreSettings,
  workWith: Work,
): Observable<Acted> {
  // shows whether the ledger is the one of the record: also actions that neither create nor archive
  const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat: ledgerEffects({ parties: actAs }) });
  return defer(() => {
    const opened = feed.open({ emitUndecoded: true });
    // of the same updates, but no cursor of a processor: what a rule has read, a processor has not handled
    const identity$ = opened.identity$.pipe(
      map((identity) => ({ ...identity, selection: `rule:${identity.selection}` })),
    );
    const reader = { ...opened, identity$ };
    const named = reportOf(reader.report, { rule: name });
    const report: RetrySettings['report'] = (make) => {
      const diagnostic = make();
      if (diagnostic._tag === 'RetryScheduled')
        Object.assign(state, { isStandby: false, storeError: diagnostic.cause });
      named(() => diagnostic);
    };
    const retrying = { retry, report };
    const answered = <A>(): MonoTypeOperatorFunction<A> =>
      tap(() => {
        state.storeError = undefined;
      });
    const leader$ = acquireStore({ name, store }, retrying, lastCalls(storeTimeoutMs)).pipe(
      answered(),
      tap(({ isStandby }) => {
        state.isStandby = isStandby;
      }),
      filter(({ isStandby }) => !isStandby),
    );
    return whileHeld(leader$, ({ load$, save, transactions }) =>
      resumePoint(reader, name, load$.pipe(answered())).pipe(
        concatMap((point) => from(reader.prove?.(point.cursor) ?? [undefined]).pipe(map(() => point))),
        mapError((error) => rejectedCursor(name, error)),
        concatMap(({ cursor }) => {
          const saveRecord = (record: Cursor): Observable<unknown> =>
            transactions.transact((tx) => save(record, tx).pipe(answered()));
          return workWith((isGone) => new StoredMemory(name, cursor, saveRecord, isGone));
        }),
      ),
    ).pipe(
      retryTransient(retrying, (error) => isLedgerError(error, 'StoreError') && error.retried === undefined),
      filter((acted) => acted !== undefined),
    );
  });
}

/** How long a call of the store may take, in milliseconds. */
const storeTimeoutMs = 30_000;

/** An action that may have been submitted. */
interface SavedAction {
  readonly commandId: string;
  /** The offset after which it was committed, if it was; absent if it is known to be committed. */
  readonly after?: Offset | undefined;
}

/** An action that this run, or an earlier one, may have submitted. */
interface BegunAction {
  readonly after: Offset;
  /** How often the participant had got other offsets in this run. */
  readonly moves: number;
  /** Whether an earlier submission of it may be committed, whatever became of the last one. */
  readonly isRepeated: boolean;
}

interface SavedActions {
  readonly actions?: readonly SavedAction[] | undefined;
}

const SavedActions: t.Type<SavedActions, unknown> = message<SavedActions>('SavedActions', {
  actions: optional(
    t.readonlyArray(message<SavedAction>('SavedAction', { commandId: text, after: optional(Offset) })) as t.Type<
      readonly SavedAction[],
      unknown
    >,
  ),
});

/**
 * The memory of a rule with a store. Actions that do not archive their contract are saved before they are submitted, so that an
 * action which was not saved was never submitted. The record has those of the contracts that may be acted on again.
 */
class StoredMemory implements Memory {
  readonly #actions: Map<string, SavedAction>;
  /** The actions that may have been committed, also those of which that is known. */
  readonly #begun: Map<string, BegunAction>;
  #cursor: Cursor;
  #isSaved = true;
  #saving$: Observable<never> = EMPTY;
  /** The save after the one in progress. All that is noted until it begins is in it. */
  #next$: Observable<never> | undefined;

  /**
   * @param cursor - the saved record
   * @param save - saves a record
   * @param isGone - whether a contract was archived, so that nothing acts on it again
   */
  constructor(
    rule: string,
    cursor: Cursor,
    private readonly save: (cursor: Cursor) => Observable<unknown>,
    private readonly isGone: (contractId: string) => boolean,
  ) {
    const { actions = [] } = decodeRecord(SavedActions, rule, cursor);
    this.#cursor = cursor;
    this.#actions = new Map(actions.map((action) => [action.commandId, action]));
    this.#begun = new Map(
      actions.flatMap(({ commandId, after }) =>
        after === undefined ? [] : [[commandId, { after, moves: 0, isRepeated: true }] as const],
      ),
    );
  }

  begin(commandId: string, after: Offset, moves: number): Observable<never> {
    return defer(() => {
      const begun = this.#begun.get(commandId);
      this.#begun.set(commandId, begun ? { ...begun, isRepeated: true } : { after, moves, isRepeated: false });
      if (this.#actions.has(commandId)) return EMPTY;
      this.#actions.set(commandId, { commandId, after });
      this.#isSaved = false;
      return this.flush();
    });
  }

  refused(commandId: string): void {
    if (this.#begun.get(commandId)?.isRepeated === false) this.#begun.delete(commandId);
  }

  end(commandId: string, transaction?: SubmittedTransaction): void {
    if (!this.#actions.has(commandId)) return;
    this.#actions.set(commandId, { commandId });
    this.#isSaved = false;
    if (transaction === undefined || transaction.offset <= this.#cursor.offset) return;
    const { offset, updateId } = transaction;
    this.#cursor = { ...this.#cursor, offset, lastUpdate: { offset, updateId } };
  }

  has(commandId: string): boolean {
    const action = this.#actions.get(commandId);
    return action !== undefined && action.after === undefined;
  }

  hasActionsOf(contractId: string): boolean {
    for (const commandId of this.#actions.keys()) if (contractIdOf(commandId) === contractId) return true;
    return false;
  }

  excludes(commandId: string, earliest: Offset, moves: number): boolean {
    const begun = this.#begun.get(commandId);
    return begun === undefined || (begun.moves === moves && begun.after >= earliest);
  }

  /** Saves what is noted. Several callers share one save. */
  flush(): Observable<never> {
    if (this.#isSaved && this.#next$ === undefined) return EMPTY;
    return (this.#next$ ??= concat(
      this.#saving$,
      defer(() => {
        this.#saving$ = this.#next$ ?? EMPTY;
        this.#next$ = undefined;
        this.#isSaved = true;
        return this.save(this.#record());
      }),
    ).pipe(ignoreElements(), shareReplay({ bufferSize: 1, refCount: true })));
  }

  #record(): Cursor {
    const contractIds = [...new Set([...this.#actions.keys()].map(contractIdOf))];
    const gone = new Set(contractIds.filter((contractId) => this.isGone(contractId)));
    for (const commandId of this.#actions.keys()) {
      if (!gone.has(contractIdOf(commandId))) continue;
      this.#actions.delete(commandId);
      this.#begun.delete(commandId);
    }
    const record: Cursor & SavedActions = { ...this.#cursor, actions: [...this.#actions.values()] };
    return record;
  }
}

/** The contract of an action. Its command id is the name of the rule, the contract id and the round. */
const contractIdOf = (commandId: string): string => commandId.split(':', 2)[1] ?? '';

/** What is known of the effects of a rule's actions: which archive their contract, and what the participant has forgotten. */
export class Effects {
  /** Whether the choices of the actions so far have always archived their contract. */
  readonly #archiving = new Map<string, boolean>();
  #earliest: { readonly offset: Offset; readonly moves: number } = { offset: 0, moves: 0 };

  /** @param movesOf - how often the contracts have continued at other offsets, at which earlier ones mean nothing */
  constructor(
    private readonly rule: Rule,
    private readonly memory: Memory,
    private readonly movesOf: () => number = () => 0,
  ) {}

  /** The smallest offset from which the participant recognizes repetitions, as far as it is known. */
  get earliest(): Offset {
    const { offset, moves } = this.#earliest;
    return moves === this.movesOf() ? offset : 0;
  }

  /** The participant is pruned up to an offset. */
  forget(earliest: Offset): void {
    this.#earliest = { offset: Math.max(this.earliest, earliest), moves: this.movesOf() };
  }

  /** Whether the action archives its contract, as far as that is known. */
  consumes({ contract }: Entry, { request }: Submission): boolean {
    if (this.rule.consumes !== undefined) return this.rule.consumes;
    const choice = choiceOn(contract.contractId, request);
    return choice !== undefined && (choice.endsWith(':Archive') || this.#archiving.get(choice) === true);
  }

  /**
   * Notes whether a choice has archived its contract. If the transaction had other commands, they may have. Returns whether it is
   * the first that shows that the choice does.
   */
  learn({ contract: { contractId } }: Entry, { request }: Submission, { events }: SubmittedTransaction): boolean {
    const choice = choiceOn(contractId, request);
    if (choice === undefined || request.commands.length > 1) return false;
    const isArchived = events.some((event) => event._tag === 'ArchivedEvent' && event.contractId === contractId);
    const isFirst = !this.#archiving.has(choice);
    this.#archiving.set(choice, isArchived && this.#archiving.get(choice) !== false);
    return isFirst && isArchived;
  }

  /** Whether it depends on the creation of the contract, which is not known, whether the action is safe. */
  needsCreation(entry: Entry, submission: Submission): boolean {
    return this.earliest > 0 && !entry.isCreationKnown && !this.isSafe(entry, submission);
  }

  /**
   * Whether no earlier run can have committed the action before the earliest offset from which the participant recognizes
   * repetitions. Otherwise, only a period since the beginning is safe: it lets a participant that is pruned accept nothing new.
   */
  isSafe(entry: Entry, submission: Submission): boolean {
    // contracts that are still active, or that show no effect of the action, prove that it was not committed
    if (this.consumes(entry, submission)) return true;
    const { earliest } = this;
    if (this.rule.done !== undefined && submission.decidedAt >= earliest) return true;
    if ((entry.createdOffset ?? -1) >= earliest) return true;
    return this.memory.excludes(submission.request.commandId, earliest, this.movesOf());
  }
}

/** The template and the choice that a request exercises on a contract; `undefined` unless it is exactly one. */
function choiceOn(contractId: string, { commands }: Submission['request']): string | undefined {
  const choices = commands.flatMap((command) =>
    'ExerciseCommand' in command && command.ExerciseCommand.contractId === contractId
      ? [`${command.ExerciseCommand.templateId}:${command.ExerciseCommand.choice}`]
      : [],
  );
  return choices.length === 1 ? choices[0] : undefined;
}
