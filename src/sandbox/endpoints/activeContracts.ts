import { requestError } from '../errors.js';
import { type Answer, type Call, jsonAnswer } from '../http/Call.js';
import { checkFilters } from '../ledger/checkFilters.js';
import type { Ledger } from '../ledger/Ledger.js';
import { readSnapshot } from '../ledger/snapshot.js';
import { type ContractsRequest, readContractsRequest } from '../requests/contractsRequest.js';
import type { EventFormat } from '../requests/formats.js';
import { parseBody, readInteger } from '../requests/JsonCursor.js';
import { continuationToken } from '../requests/snapshotTokens.js';
import { listTooLong } from './updates.js';

/** `POST /v2/state/active-contracts`: a stream of the active contracts, collected into a list. */
export function listActiveContracts(call: Call): Answer {
  const { maxListElements: max } = call.participant.settings;
  const limit = readInteger(call.query, 'limit') ?? max + 1;
  const idleMs = readInteger(call.query, 'stream_idle_timeout_ms') ?? Infinity;
  const request = readRequest(call);
  if (limit <= 0) return jsonAnswer([]);
  checkSnapshot(request.activeAtOffset, request.format, call.participant.ledger);
  // a delay imitates a slow database: the list ends before its first element
  const isIdle = call.fault?.kind === 'delay' && call.fault.ms > idleMs;
  // one element above the limit shows that the list is too long
  const list = take(readElements(request, call), isIdle ? 0 : Math.min(limit, max + 1));
  if (list.length > max) throw listTooLong(list.length, max);
  return jsonAnswer(list);
}

/** `GET /v2/state/active-contracts` as a WebSocket: a stream of the active contracts, one by one. */
export function* streamActiveContracts(call: Call): Generator<object, void> {
  const request = readRequest(call);
  checkSnapshot(request.activeAtOffset, request.format, call.participant.ledger);
  yield* readElements(request, call);
}

function readRequest({ body, participant }: Call): ContractsRequest {
  return readContractsRequest(parseBody(body), participant.settings);
}

function* readElements(request: ContractsRequest, { participant }: Call): Generator<object, void> {
  const { ledger, settings } = participant;
  const { activeAtOffset: offset, format, after, checksum } = request;
  for (const { position, ...element } of readSnapshot(
    { offset, format, after },
    { ledger, profile: settings.profile },
  )) {
    // the ledger may be pruned while the entries are sent
    checkPruned(offset, ledger);
    const token = checksum === undefined ? {} : { streamContinuationToken: continuationToken(checksum, position) };
    yield { ...element, ...token };
  }
}

/** Rejects a snapshot that the ledger cannot serve. */
export function checkSnapshot(offset: number, format: EventFormat, ledger: Ledger): void {
  const { end, packages } = ledger;
  checkFilters(packages, format);
  if (offset > end) {
    const cause = `active_at_offset offset (${offset}) is after ledger end (${end})`;
    throw requestError('OFFSET_AFTER_LEDGER_END', cause);
  }
  checkPruned(offset, ledger);
}

function checkPruned(offset: number, { pruned }: Ledger): void {
  // at offset 0, no contract is active, pruned or not
  if (offset === 0 || offset >= pruned) return;
  const cause = `Active contracts request at offset ${offset} precedes pruned offset ${pruned}`;
  throw requestError('PARTICIPANT_PRUNED_DATA_ACCESSED', cause, { context: { earliest_offset: String(pruned) } });
}

/** Returns the first `count` elements, or fewer if there are fewer. */
export function take<A>(elements: Iterable<A>, count: number): readonly A[] {
  const taken: A[] = [];
  if (count <= 0) return taken;
  for (const element of elements) if (taken.push(element) >= count) break;
  return taken;
}
