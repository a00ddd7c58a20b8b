import type * as t from 'io-ts';
import { mapOf, optional, text } from './internal/field.js';
import { message } from './internal/message.js';
import { Offset, Timestamp } from './scalars.js';

/**
 * The offset and ID of an update.
 *
 * @category Updates
 */
export interface LastUpdate {
  /** The offset of the update. */
  readonly offset: Offset;
  /** The ID of the update, which is the same on every participant. */
  readonly updateId: string;
}

/**
 * Codec of `LastUpdate`.
 *
 * @category Updates
 */
export const LastUpdate: t.Type<LastUpdate, unknown> = message<LastUpdate>('LastUpdate', {
  offset: Offset,
  updateId: text,
});

/**
 * How far a synchronizer has been read.
 *
 * @category Updates
 */
export interface RecordPoint {
  /** The record time of its last update that was read; before the first one, that of the last checkpoint. */
  readonly recordTime: Timestamp;
  /** That update; absent if there was none yet. */
  readonly updateId?: string | undefined;
}

/** Codec of `RecordPoint`. */
const RecordPoint: t.Type<RecordPoint, unknown> = message<RecordPoint>('RecordPoint', {
  recordTime: Timestamp,
  updateId: optional(text),
});

/**
 * A position in the history of a ledger: what has been read so far. Plain JSON, to store.
 *
 * An offset is an address on one participant. Another participant has other offsets, and so has the same participant after
 * it was restored from a backup. The order of the updates of one synchronizer is the same everywhere, so the record times
 * find the position on every participant that has the same history.
 *
 * @example
 * ```ts
 * import { acsDelta, createLedger, type LedgerPosition, positions } from 'canton-rx';
 * import { take } from 'rxjs';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * let saved: LedgerPosition = { offset: 0, recordTimes: {} };
 * ledger
 *   .updates({ after: saved, updateFormat: acsDelta({ parties: 'any' }) })
 *   .pipe(positions(), take(3))
 *   .subscribe(([update, position]) => {
 *     console.log(update.offset);
 *     saved = position;
 *   });
 * ```
 * @category Updates
 */
export interface LedgerPosition {
  /** The offset up to which everything has been read, on the participant. */
  readonly offset: Offset;
  /** The participant to which the offsets belong; absent if it is not known. */
  readonly participantId?: string | undefined;
  /** The last update that was read. It proves that the ledger is still the same. */
  readonly lastUpdate?: LastUpdate | undefined;
  /** How far each synchronizer has been read, by synchronizer ID. */
  readonly recordTimes: Readonly<Record<string, RecordPoint>>;
}

/** The position of a bare offset, which proves nothing. */
export const bareOffset = (offset: Offset): LedgerPosition => ({ offset, recordTimes: {} });

/** The codecs of the fields of a position. */
export const positionFields = {
  offset: Offset,
  participantId: optional(text),
  lastUpdate: optional(LastUpdate),
  recordTimes: mapOf(text, RecordPoint),
};

/**
 * Codec of `LedgerPosition`.
 *
 * @category Updates
 */
export const LedgerPosition: t.Type<LedgerPosition, unknown> = message<LedgerPosition>(
  'LedgerPosition',
  positionFields,
);
