import * as t from 'io-ts';
import { flag, lenient, nullable, text } from '../../codecs/internal/field.js';
import { Int64 } from '../../codecs/scalars.js';
import { UpdateFormat } from '../../codecs/UpdateFormat.js';
import { invalidArgument, requestError } from '../errors.js';
import { type Answer, type Call, jsonAnswer } from '../http/Call.js';
import type { Ledger } from '../ledger/Ledger.js';
import { checkFilters } from '../ledger/checkPackages.js';
import { visibleUpdate, type VisibleUpdate } from '../ledger/visible.js';
import type { Participant } from '../participant/Participant.js';
import { checkNotNegative, decodeBody } from '../requests/decode.js';
import {
  chooseFormat,
  legacyFields,
  rejectDeprecated,
  selectByFilter,
  selectUpdates,
  type UpdateSelection,
} from '../requests/selections.js';
import {
  checkEnd,
  checkPositive,
  checkPruned,
  follow,
  type Selected,
  type Source,
  streamRange,
  type UpdatesRange,
  checkPageSize,
} from './follow.js';
import { checksumOf, decodeToken, encodeToken } from '../requests/tokens.js';

/** The body of a request for updates. */
const UpdatesBody = t.type({
  beginExclusive: lenient(Int64, 0),
  endInclusive: nullable(Int64),
  descendingOrder: lenient(flag, false),
  updateFormat: nullable(UpdateFormat),
  ...legacyFields,
});

/** The older name of the path. */
export const flatsPath = '/v2/updates/flats';

/** `/v2/updates`, or its older name `/v2/updates/flats`: by POST a list, over a WebSocket a stream. */
export function selectUpdateRange(call: Call): Selected {
  const { participant } = call;
  const range = readRange(call);
  const { beginExclusive, endInclusive } = range;
  const source: Source = {
    beginExclusive,
    read: (above, upTo) => streamRange({ ...range, beginExclusive: above }, upTo, participant),
    envelope: (checkpoint) => ({ update: checkpoint }),
  };
  return {
    check: () => {
      checkRange(range, participant.ledger);
    },
    read: (idleMs) =>
      endInclusive === undefined ? follow(call, source, idleMs) : streamRange(range, endInclusive, participant),
  };
}

function readRange({ path, body, participant: { settings } }: Call): UpdatesRange {
  if (path === flatsPath) rejectDeprecated(settings, `The endpoint ${flatsPath}`);
  const request = decodeBody(UpdatesBody, body, settings);
  const chosen = chooseFormat('update_format', request.updateFormat, request, settings);
  const { profile } = settings;
  return {
    beginExclusive: request.beginExclusive,
    endInclusive: request.endInclusive ?? undefined,
    descending: profile >= '3.5' && request.descendingOrder,
    selection: 'format' in chosen ? selectUpdates(chosen.format, profile) : selectByFilter(chosen.filter, profile),
  };
}

/** Rejects a range of offsets that the ledger cannot serve. */
function checkRange({ beginExclusive, endInclusive, descending, selection }: UpdatesRange, ledger: Ledger): void {
  checkNotNegative(beginExclusive);
  if (endInclusive !== undefined) checkPositive(endInclusive, 'end_inclusive');
  if (descending && endInclusive === undefined) {
    throw requestError('DESCENDING_ORDER_MISSING_END', 'Descending order needs an end offset');
  }
  checkEnd('Begin', beginExclusive, ledger);
  if (endInclusive !== undefined) checkEnd('End', endInclusive, ledger);
  if (endInclusive !== undefined && beginExclusive > endInclusive) {
    throw requestError('OFFSET_OUT_OF_RANGE', `End offset ${endInclusive} is before begin offset ${beginExclusive}`);
  }
  // a participant checks what it reads: nothing of an empty range, and of a descending one the last updates first
  if (!descending && beginExclusive !== endInclusive) checkPruned(beginExclusive, endInclusive, ledger);
  checkSelection(selection, ledger);
}

/** Rejects a selection of unknown packages, templates or interfaces. */
function checkSelection({ transactions, reassignments }: UpdateSelection, { packages }: Ledger): void {
  checkFilters(packages, transactions?.events, reassignments);
}

const UpdateByIdBody = t.type({ updateId: text, updateFormat: UpdateFormat });

/** `POST /v2/updates/update-by-id` */
export function getUpdateById({ body, participant }: Call): Answer {
  const { updateId, updateFormat } = decodeBody(UpdateByIdBody, body, participant.settings);
  const offset = participant.ledger.offsetOf(updateId);
  if (offset === undefined && !/^1220[0-9a-f]{64}$/.test(updateId))
    throw invalidArgument(`${JSON.stringify(updateId)} is not an update id`);
  return getUpdate(offset, updateFormat, ['ErrorResource(UPDATE_ID)', updateId], participant);
}

const UpdateByOffsetBody = t.type({ offset: Int64, updateFormat: UpdateFormat });

/** `POST /v2/updates/update-by-offset` */
export function getUpdateByOffset({ body, participant }: Call): Answer {
  const { offset, updateFormat } = decodeBody(UpdateByOffsetBody, body, participant.settings);
  checkPositive(offset, 'offset');
  return getUpdate(offset, updateFormat, ['ErrorResource(OFFSET)', String(offset)], participant);
}

/** Looks up one update. Unknown, pruned and filtered updates all get the same 404. */
function getUpdate(
  offset: number | undefined,
  format: UpdateFormat,
  resource: readonly [type: string, name: string],
  participant: Participant,
): Answer {
  const { ledger, settings } = participant;
  const selection = selectUpdates(format, settings.profile);
  checkSelection(selection, ledger);
  const update = offset === undefined || offset <= ledger.pruned ? undefined : ledger.at(offset);
  const visible = update && visibleUpdate(update, selection, participant);
  if (visible === undefined)
    throw requestError('UPDATE_NOT_FOUND', 'Update not found, or not visible.', { resources: [resource] });
  return jsonAnswer(visible);
}

const UpdatesPageBody = t.type({
  beginOffsetExclusive: nullable(Int64),
  endOffsetInclusive: nullable(Int64),
  maxPageSize: nullable(Int64),
  updateFormat: UpdateFormat,
  descendingOrder: lenient(flag, false),
  pageToken: nullable(text),
});

/** `POST /v2/updates/get-updates-page`: a page of updates, and the range of offsets that it covers. */
export function getUpdatesPage({ body, participant }: Call): Answer {
  const { ledger, settings } = participant;
  const { maxPageSize, pageToken, ...request } = decodeBody(UpdatesPageBody, body, settings);
  const { beginOffsetExclusive, endOffsetInclusive, updateFormat, descendingOrder: descending } = request;
  const size = checkPageSize(maxPageSize ?? 100, 2000);
  const selection = selectUpdates(updateFormat, settings.profile);
  const checksum = checksumOf(request, size, settings.participantId);
  const [begin, end] = pageToken == null ? [beginOffsetExclusive, endOffsetInclusive] : readToken(pageToken, checksum);
  const beginExclusive = begin ?? ledger.pruned;
  const endInclusive = end ?? undefined;
  const range = { beginExclusive, endInclusive, descending, selection };
  checkPage(range, participant);
  const last = endInclusive ?? ledger.end;
  // one element more than requested shows where the next page begins
  const elements: VisibleUpdate[] = [];
  for (const element of streamRange(range, last, participant)) if (elements.push(element) > size) break;
  const [further] = elements.slice(size).flatMap(({ update }) => Object.values(update));
  const next = further?.value.offset;
  const lowest = descending && next !== undefined ? next : beginExclusive;
  const highest = descending || next === undefined ? last : next - 1;
  // without an end, there is always a next page: the updates to come
  const isOpen = !descending && endInclusive === undefined;
  const rest = descending ? [beginExclusive, lowest] : [highest, endInclusive ?? null];
  return jsonAnswer({
    updates: elements.slice(0, size),
    lowestPageOffsetExclusive: lowest,
    highestPageOffsetInclusive: highest,
    nextPageToken: next !== undefined || isOpen ? encodeToken([checksum, ...rest]) : null,
  });
}

function checkPage(
  { beginExclusive, endInclusive, descending, selection }: UpdatesRange,
  { ledger }: Participant,
): void {
  checkNotNegative(beginExclusive, 'begin_offset_exclusive');
  if (endInclusive !== undefined) checkPositive(endInclusive, 'end_offset_inclusive');
  if (endInclusive !== undefined && !descending) checkEnd('End', endInclusive, ledger);
  if (endInclusive !== undefined && beginExclusive > endInclusive)
    throw invalidArgument(`end_offset_inclusive ${endInclusive} is before begin_offset_exclusive ${beginExclusive}`);
  checkPruned(beginExclusive, endInclusive, ledger);
  checkSelection(selection, ledger);
}

/** Reads the token of an earlier page: where the next page begins, and where it ends. */
function readToken(token: string, expected: string): readonly [begin: number, end: number | undefined] {
  const [checksum, begin, end] = decodeToken(token, 'page_token', 'page token for GetUpdatesPageRequest');
  if (checksum !== expected)
    throw requestError('INVALID_UPDATES_PAGE_TOKEN', 'The page token was prepared for a different request.');
  return [Number(begin), typeof end === 'number' ? end : undefined];
}
