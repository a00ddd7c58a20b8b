import * as t from 'io-ts';
import { concat, defer, EMPTY, ignoreElements, type Observable, shareReplay } from 'rxjs';
import { optional, text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { Offset } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { type Cursor, decodeRecord } from '../process/CheckpointStore.js';

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
export class StoredMemory implements Memory {
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
