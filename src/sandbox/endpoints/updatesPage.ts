import * as t from 'io-ts';
import { flag, lenient, nullable, text } from '../../codecs/internal/field.js';
import { Int64 } from '../../codecs/scalars.js';
import { UpdateFormat } from '../../codecs/UpdateFormat.js';
import { invalidArgument, requestError } from '../errors.js';
import { type Answer, type Call, jsonAnswer } from '../http/Call.js';
import type { VisibleUpdate } from '../ledger/visible.js';
import type { Participant } from '../participant/Participant.js';
import { checkNotNegative, decodeBody } from '../requests/decode.js';
import { selectUpdates } from '../requests/selections.js';
import { checksumOf, decodeToken, encodeToken } from '../requests/tokens.js';
import { checkEnd, checkPageSize, checkPositive, checkPruned, streamRange, type UpdatesRange } from './follow.js';
import { checkSelection } from './updates.js';

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
