import type { Offset } from '../codecs/scalars.js';
import { hasTag, quotable, type Retried, runbook, TaggedError } from './internal/message.js';
import { escapeText } from './escapeText.js';
import { textOf } from './textOf.js';

/**
 * Why the stored state of a processor is rejected: it cannot be read (`unreadable`), it belongs to another participant
 * (`participant`) or to a request that selects other updates (`selection`), the ledger is
 * another one since the cursor was saved (`ledger`), or another processor has saved it in the meantime, or uses the same tables
 * (`conflict`).
 *
 * @inline
 */
type CursorReason = 'unreadable' | 'participant' | 'selection' | 'ledger' | 'conflict';

const startOver = 'start over with another name, or remove the cursor with `canton-rx processors reset`';

/** The remedy. The runbook has the details. */
const cursorNext: Readonly<Record<CursorReason, string>> = {
  unreadable: 'run the release that saved it, or a later one',
  participant: `connect to the participant of the cursor; or if both have the same history, continue there with onOtherNode: 'relocate'; or ${startOver}`,
  selection: `restore the parties, filters and transaction shape of the request, or ${startOver}`,
  ledger: `connect to the former ledger, or correct what was derived from it and ${startOver}`,
  conflict: 'give each processor its own name, and each projection its own schema',
};

/**
 * The operation of a store. `publish` is that of a relay, `prepare` that of a handler.
 *
 * @category Errors
 */
export type StoreOperation = 'prepare' | 'hold' | 'load' | 'save' | 'park' | 'unpark' | 'commit' | 'publish';

/**
 * A processor cannot resume from the cursor in its store, because updates would be missing or handled twice. Nothing was
 * handled after the cursor. It also ends a running processor whose ledger was replaced. Use another name, or the store that
 * belongs to this ledger and request. Or correct the data that is derived from the updates, and save another cursor. The message
 * names the next step, and the address of its place in the runbook.
 *
 * @category Errors
 */
export class CursorError extends TaggedError<'CursorError'> {
  /** The problem in a few words. */
  readonly explanation: string;

  constructor(
    /** The kind of problem. */
    readonly reason: CursorReason,
    /** The name of the processor in the store. */
    readonly processor: string,
    explanation: string,
    /** The remedy, if it differs from the usual one. */
    next?: string,
  ) {
    super('CursorError', `The stored state of the processor is rejected: ${explanation}.`, {
      Reason: reason,
      Processor: processor,
      Next: next ?? cursorNext[reason],
      Runbook: runbook(`cursorerror-${reason}`),
    });
    this.explanation = escapeText(explanation);
  }

  override get summary(): string {
    return 'The saved progress does not belong to this ledger.';
  }
}

/**
 * A handler of `processFeed` failed and is not retried. Every update before this one is committed; this one and later ones
 * are not. A processor that is started again begins with this update. After `handlerTimeoutMs`, updates before this one may
 * not be committed either: the processor begins after the last commit.
 *
 * @category Errors
 */
export class HandlerError extends TaggedError<'HandlerError'> {
  constructor(
    /** The offset of the update. */
    readonly offset: Offset,
    /** The id of the update, if it has one. */
    readonly updateId: string | undefined,
    /** The number of attempts. */
    readonly attempts: number,
    /** The last error of the handler. The message quotes its text. */
    cause: unknown,
    /** The remedy if the handler was too slow. The updates since the last commit are then not committed. */
    next?: string,
  ) {
    const reason = cause instanceof Error ? quotable(textOf(cause), []) : undefined;
    super(
      'HandlerError',
      `The handler failed${reason === undefined ? '.' : `: ${reason}`}`,
      {
        Offset: offset,
        Update: updateId,
        Attempts: attempts,
        Next: next,
        Runbook: runbook(next === undefined ? 'handlererror' : 'a-slow-handler'),
      },
      { cause },
    );
  }

  override get summary(): string {
    return 'A change of the ledger could not be processed.';
  }
}

/**
 * The store of a processor failed or did not answer in time. The processor retries the operation for a limited time, or ends
 * immediately if it starts and a repetition cannot help, as with a wrong password or without the folder of a `fileStore`. The message
 * then names the next step.
 *
 * @category Errors
 */
export class StoreError extends TaggedError<'StoreError'> {
  /** The number and the duration of the retries; absent if there were none. */
  declare readonly retried?: Retried;
  /** Whether the error ends the processor immediately, because a repetition cannot help. */
  readonly endsProcessor: boolean;

  constructor(
    /** The operation that failed. */
    readonly operation: StoreOperation,
    /** The name of the processor in the store. */
    readonly processor: string,
    /** The reason, in a few words. */
    readonly reason: string,
    /** The error that the store threw. */
    cause?: unknown,
    /** The action that a person must take, if a retry cannot help. */
    next?: string,
  ) {
    const hint = isFolderMissing(operation, cause) ? 'create the folder, and give the process access to it' : undefined;
    const details = {
      Hint: hint,
      Operation: operation,
      Processor: processor,
      Next: next,
      Runbook: runbook('storeerror'),
    };
    super('StoreError', `The store failed: ${reason}`, details, { cause });
    this.endsProcessor = hint !== undefined || next !== undefined;
  }

  override get summary(): string {
    return 'The progress could not be saved or read.';
  }
}

/**
 * Whether a store cannot begin because its folder does not exist or must not be used. A folder that disappears later may come
 * back with its disk, and the socket of a database with the database.
 */
const isFolderMissing = (operation: StoreOperation, cause: unknown): boolean =>
  /hold|load/.test(operation) &&
  typeof cause === 'object' &&
  cause !== null &&
  'code' in cause &&
  /^(?:ENOENT|ENOTDIR|EACCES|EROFS)$/.test(String(cause.code)) &&
  !('syscall' in cause && cause.syscall === 'connect');

/**
 * Whether an error of a store or a handler ends its processor as it is: it does not concern an update, and a repetition
 * cannot help.
 */
export const endsProcessor = (u: unknown): boolean =>
  hasTag(u, 'CursorError') || (typeof u === 'object' && u !== null && 'endsProcessor' in u && u.endsProcessor === true);

/**
 * Whether an error of a handler is a mistake in the program, which a retry repeats. Not the `TypeError` of a `fetch` without a
 * response: it has a cause in Node.js, and one of these messages in browsers.
 */
export const isMistake = (u: unknown): u is Error =>
  u instanceof Error &&
  /^(?:TypeError|ReferenceError)$/.test(u.name) &&
  u.cause === undefined &&
  !/fetch|load failed|network|terminated/i.test(u.message);
