import * as t from 'io-ts';
import { flag, lenient, nullable, text } from '../../codecs/internal/field.js';
import { Int64 } from '../../codecs/scalars.js';
import { EventFormat } from '../../codecs/UpdateFormat.js';
import { requestError } from '../errors.js';
import { type Answer, type Call, jsonAnswer } from '../http/Call.js';
import type { Ledger } from '../ledger/Ledger.js';
import { checkFilters } from '../ledger/checkPackages.js';
import { readSnapshot, type SnapshotEntry, type SnapshotPosition, type SnapshotRequest } from '../ledger/snapshot.js';
import type { Participant } from '../participant/Participant.js';
import type { Settings } from '../participant/Settings.js';
import { checkNotNegative, decodeBody, missingField } from '../requests/decode.js';
import { chooseFormat, type EventSelection, legacyFields, selectEvents } from '../requests/selections.js';
import { checksumOf, decodeToken, encodeToken } from '../requests/tokens.js';
import { checkEnd, checkPageSize, prunedError, type Selected } from './follow.js';

/** The body of a request for a list or stream of the active contracts. */
const ContractsBody = t.type({
  activeAtOffset: lenient(Int64, 0),
  eventFormat: nullable(EventFormat),
  ...legacyFields,
  includeIncompleteReassignments: lenient(flag, false),
  streamContinuationToken: nullable(text),
});

/** `/v2/state/active-contracts`: by POST a list, over a WebSocket a stream. */
export function selectActiveContracts(call: Call): Selected {
  const { participant, fault } = call;
  const request = readRequest(call);
  return {
    check: () => {
      checkSnapshot(request, participant.ledger);
    },
    read: (idleMs = Infinity) => {
      // a delay imitates a slow database: the list ends before its first element
      const isIdle = fault?.kind === 'delay' && fault.ms > idleMs;
      return isIdle ? [] : readElements(request, participant);
    },
  };
}

interface ListRequest extends SnapshotRequest {
  /** The checksum in the tokens of its elements; `undefined` for a release without them. */
  readonly checksum?: string;
}

function readRequest({ body, participant: { settings } }: Call): ListRequest {
  const { profile, participantId } = settings;
  const request = decodeBody(ContractsBody, body, settings);
  const offset = request.activeAtOffset;
  checkNotNegative(offset, offsetField);
  const chosen = chooseFormat('event_format', request.eventFormat, request, settings);
  const selection = selectEvents('format' in chosen ? chosen.format : chosen.filter, profile);
  const incomplete = includesIncomplete(request, settings);
  if (profile < '3.5') return { offset, selection, incomplete };
  const verbose = 'format' in chosen ? (chosen.format.verbose ?? false) : request.verbose;
  const checksum = checksumOf(offset, toFields(selection), verbose, incomplete, profile, participantId);
  const token = request.streamContinuationToken ?? undefined;
  const after = token === undefined ? undefined : readContinuationToken(token, checksum);
  return { offset, selection, incomplete, checksum, after };
}

function* readElements(request: ListRequest, participant: Participant): Generator<object, void> {
  const { offset, checksum } = request;
  for (const { position, ...element } of readSnapshot(request, participant)) {
    // the ledger may be pruned while the entries are sent
    checkPruned(offset, participant.ledger);
    if (checksum === undefined) {
      yield element;
      continue;
    }
    yield { ...element, streamContinuationToken: encodeToken([checksum, position.index, position.offset ?? null]) };
  }
}

/** The body of a request for a page of the active contracts. */
const ContractsPageBody = t.type({
  activeAtOffset: nullable(Int64),
  eventFormat: nullable(EventFormat),
  includeIncompleteReassignments: lenient(flag, false),
  maxPageSize: nullable(Int64),
  pageToken: nullable(text),
});

/** `POST /v2/state/active-contracts-page`: a page of the active contracts, with a token for the next page. */
export function getActiveContractsPage({ body, participant }: Call): Answer {
  const { ledger, settings } = participant;
  const { profile, participantId } = settings;
  const { eventFormat, activeAtOffset, maxPageSize, ...request } = decodeBody(ContractsPageBody, body, settings);
  if (!eventFormat) throw missingField('event_format');
  const selection = selectEvents(eventFormat, profile);
  checkNotNegative(activeAtOffset ?? 0, offsetField);
  const pageSize = checkPageSize(maxPageSize ?? 2000, 10_000);
  const incomplete = includesIncomplete(request, settings);
  const content = [activeAtOffset ?? 'ledger end', toFields(selection), eventFormat.verbose ?? false, incomplete];
  const parts = [checksumOf(participantId), profile, checksumOf(...content)];
  const token = request.pageToken ?? undefined;
  const previous = token === undefined ? undefined : readPageToken(token, parts);
  // participants read 0 as no offset, although their specification promises an empty set
  const requested = activeAtOffset === 0 ? undefined : activeAtOffset;
  const offset = previous?.activeAtOffset ?? requested ?? ledger.end;
  // one entry more than requested shows that there is another page
  const snapshot = { offset, selection, incomplete, after: previous?.after, batchSize: pageSize + 1 };
  checkSnapshot(snapshot, ledger);
  const entries: SnapshotEntry[] = [];
  for (const entry of readSnapshot(snapshot, participant)) if (entries.push(entry) > pageSize) break;
  const page = entries.slice(0, pageSize);
  const last = entries.length > pageSize ? page.at(-1) : undefined;
  return jsonAnswer({
    // only lists and streams have tokens in their elements
    activeContracts: page.map(({ workflowId, contractEntry }) => ({
      workflowId,
      contractEntry,
      streamContinuationToken: '',
    })),
    activeAtOffset: offset,
    nextPageToken: last ? encodeToken([...parts, offset, last.position.index, last.position.offset ?? null]) : null,
  });
}

/** The name of the offset of a snapshot in errors. */
const offsetField = 'active_at_offset';

/** Whether to include incomplete reassignments. Releases before 3.7 ignore the field and always include them. */
const includesIncomplete = (
  { includeIncompleteReassignments }: { readonly includeIncompleteReassignments: boolean },
  { profile }: Settings,
): boolean => profile < '3.7' || includeIncompleteReassignments;

/** The fields of a selection that a token depends on. The order of the parties does not matter. */
function toFields({ byParty, anyParty }: EventSelection): readonly unknown[] {
  return [[...byParty].sort(([one], [other]) => (one < other ? -1 : 1)), anyParty];
}

/** Rejects a snapshot that the ledger cannot serve. */
function checkSnapshot({ offset, selection }: SnapshotRequest, ledger: Ledger): void {
  checkFilters(ledger.packages, selection);
  checkEnd(offsetField, offset, ledger);
  checkPruned(offset, ledger);
}

function checkPruned(offset: number, { pruned }: Ledger): void {
  // at offset 0, no contract is active, pruned or not
  if (offset !== 0 && offset < pruned) throw prunedError(`Active contracts request at offset ${offset}`, pruned);
}

/** Reads the token of an earlier element. */
function readContinuationToken(token: string, checksum: string): SnapshotPosition {
  const [actual, index, offset] = decodeToken(
    token,
    'stream_continuation_token',
    'continuation token for GetActiveContractsRequest',
  );
  if (actual === checksum && typeof index === 'number') return { index, offset: toOffset(offset) };
  throw requestError('INVALID_CONTINUATION_TOKEN', 'The continuation token was prepared for a different request.');
}

/** The errors of a page token, by the parts that it begins with and that must stay the same from page to page. */
const pageTokenErrors = [
  'by a different participant',
  'with different page API version',
  'with different event_format or active_at_offset',
];

/** Reads the token of an earlier page: the offset of the snapshot, and the last entry of that page. */
function readPageToken(token: string, expected: readonly string[]) {
  const content = decodeToken(token, 'page_token', 'page token for GetActiveContractsPageRequest');
  const wrong = pageTokenErrors.find((_, part) => content[part] !== expected[part]);
  if (wrong !== undefined) throw requestError('INVALID_ACS_PAGE_TOKEN', `The page token was prepared ${wrong}.`);
  const [activeAtOffset, index, offset] = content.slice(pageTokenErrors.length);
  return { activeAtOffset: Number(activeAtOffset), after: { index: Number(index), offset: toOffset(offset) } };
}

function toOffset(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
