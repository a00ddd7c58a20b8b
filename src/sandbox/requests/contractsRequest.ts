import { requestError } from '../errors.js';
import type { Settings } from '../participant/Settings.js';
import { type EventFormat, readEventFormat } from './formats.js';
import { type JsonCursor, missingField } from './JsonCursor.js';
import {
  checksumOf,
  type PageChecksums,
  type PageToken,
  readContinuationToken,
  readPageToken,
  type SnapshotPosition,
} from './snapshotTokens.js';
import { chooseFormat } from './updatesRequest.js';

/** The body of a request for a list or stream of the active contracts. */
export interface ContractsRequest {
  readonly activeAtOffset: number;
  readonly format: EventFormat;
  /** The checksum in the tokens of its elements; `undefined` for a release without them. */
  readonly checksum: string | undefined;
  /** The element after which the snapshot continues. */
  readonly after: SnapshotPosition | undefined;
}

/** Reads the body of a request for a list or stream of the active contracts. */
export function readContractsRequest(body: JsonCursor, settings: Settings): ContractsRequest {
  const { profile, participantId } = settings;
  const activeAtOffset = readActiveAtOffset(body.field('activeAtOffset'));
  const { format: given, filter } = chooseFormat(body, 'eventFormat', settings);
  const format = readEventFormat(given ?? filter, profile);
  const verbose = (given ?? body).field('verbose').boolean();
  if (profile === '3.4') return { activeAtOffset, format, checksum: undefined, after: undefined };
  const checksum = checksumOf(activeAtOffset, toFields(format), verbose, profile, participantId);
  const after = body.field('streamContinuationToken').optional((token) => readContinuationToken(token, checksum));
  return { activeAtOffset, format, checksum, after };
}

/** The body of a request for a page of the active contracts. */
interface ContractsPageRequest {
  /** `undefined` for the ledger end. */
  readonly activeAtOffset: number | undefined;
  readonly format: EventFormat;
  readonly pageSize: number;
  readonly checksums: PageChecksums;
  readonly token: PageToken | undefined;
}

/** Reads the body of a request for a page of the active contracts. */
export function readContractsPageRequest(body: JsonCursor, { profile, participantId }: Settings): ContractsPageRequest {
  const eventFormat = body.field('eventFormat');
  const format = eventFormat.optional((cursor) => readEventFormat(cursor, profile));
  if (format === undefined) throw missingField('event_format');
  const activeAtOffset = body.field('activeAtOffset').optional(readActiveAtOffset);
  const pageSize = body.field('maxPageSize').optional(readPageSize) ?? defaultPageSize;
  const verbose = eventFormat.field('verbose').boolean();
  const request = checksumOf(activeAtOffset ?? 'ledger end', toFields(format), verbose);
  const checksums = { participant: checksumOf(participantId), version: profile, request };
  const token = body.field('pageToken').optional((cursor) => readPageToken(cursor, checksums));
  // participants read 0 as no offset, although their specification promises an empty set
  return { activeAtOffset: activeAtOffset === 0 ? undefined : activeAtOffset, format, pageSize, checksums, token };
}

/** The fields of a format that a token depends on. The order of the parties does not matter. */
function toFields({ byParty, anyParty }: EventFormat): readonly unknown[] {
  return [[...byParty].sort(([one], [other]) => (one < other ? -1 : 1)), anyParty];
}

function readActiveAtOffset(cursor: JsonCursor): number {
  const offset = cursor.integer();
  if (offset < 0) throw requestError('NEGATIVE_OFFSET', `Offset ${offset} in active_at_offset is negative`);
  return offset;
}

const defaultPageSize = 2000;

const maxPageSize = 10_000;

function readPageSize(cursor: JsonCursor): number {
  const size = cursor.integer();
  if (size <= 0) throw requestError('INVALID_ARGUMENT', `Requested page size must be positive, but got ${size}`);
  if (size <= maxPageSize) return size;
  throw requestError('INVALID_ARGUMENT', `Requested page size must not exceed ${maxPageSize}, but got ${size}`);
}
