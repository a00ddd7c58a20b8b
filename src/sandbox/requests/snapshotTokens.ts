import { type RequestError, requestError } from '../errors.js';
import { sha256 } from '../wire/values.js';
import { type JsonCursor, readBase64 } from './JsonCursor.js';

/**
 * The position of an entry in a snapshot: among the active contracts or, with an offset, among the incomplete
 * reassignments.
 */
export interface SnapshotPosition {
  readonly index: number;
  readonly offset?: number | undefined;
}

/** Returns the checksum of everything that must stay the same while a token is valid. */
export function checksumOf(...parts: readonly unknown[]): string {
  return sha256(JSON.stringify(parts)).slice(0, 8);
}

/** Creates the token that continues a list or stream after one of its elements. */
export function continuationToken(checksum: string, { index, offset }: SnapshotPosition): string {
  return encode(offset === undefined ? [checksum, index] : [checksum, index, offset]);
}

/** Reads the token of an earlier element. */
export function readContinuationToken(cursor: JsonCursor, checksum: string): SnapshotPosition {
  const [actual, index, offset] = decode(cursor, 'stream_continuation_token', 'continuation token');
  if (actual === checksum && typeof index === 'number') return { index, offset: toOffset(offset) };
  throw requestError('INVALID_CONTINUATION_TOKEN', 'The continuation token was prepared for a different request.');
}

/** The content of a page token. */
export interface PageToken {
  readonly activeAtOffset: number;
  /** The last entry of the previous page. */
  readonly after: SnapshotPosition;
}

/** The parts of a request and of the sandbox that must stay the same from page to page. */
export interface PageChecksums {
  readonly participant: string;
  readonly version: string;
  readonly request: string;
}

/** Creates the token of the page after an entry. */
export function pageToken({ activeAtOffset, after }: PageToken, checksums: PageChecksums): string {
  const { participant, version, request } = checksums;
  return encode([participant, version, request, activeAtOffset, after.index, after.offset ?? null]);
}

/** Reads the token of an earlier page. */
export function readPageToken(cursor: JsonCursor, checksums: PageChecksums): PageToken {
  const [participant, version, request, activeAtOffset, index, offset] = decode(cursor, 'page_token', 'page token');
  if (participant !== checksums.participant) throw invalidPageToken('by a different participant');
  if (version !== checksums.version) throw invalidPageToken('with different page API version');
  if (request !== checksums.request) throw invalidPageToken('with different event_format or active_at_offset');
  return { activeAtOffset: Number(activeAtOffset), after: { index: Number(index), offset: toOffset(offset) } };
}

function invalidPageToken(how: string): RequestError {
  return requestError('INVALID_ACS_PAGE_TOKEN', `The page token was prepared ${how}.`);
}

function toOffset(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function encode(content: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(content)).toString('base64');
}

/** Decodes a token. An empty token is a token without content, which differs from an absent token. */
function decode(cursor: JsonCursor, field: string, what: string): readonly unknown[] {
  const bytes = readBase64(cursor);
  try {
    const content: unknown = bytes.length === 0 ? [] : JSON.parse(bytes.toString());
    if (Array.isArray(content)) return content;
  } catch {
    // the same error as for other bytes that are not a token
  }
  const request = `GetActiveContracts${field === 'page_token' ? 'Page' : ''}Request`;
  const cause = `The submitted request has a field with invalid value: Invalid field ${field}: `;
  throw requestError('INVALID_FIELD', `${cause}Invalid ${what} for ${request}`);
}
