import { type Answer, type Call, jsonAnswer } from '../http/Call.js';
import { readSnapshot } from '../ledger/snapshot.js';
import { readContractsPageRequest } from '../requests/contractsRequest.js';
import { parseBody } from '../requests/JsonCursor.js';
import { pageToken } from '../requests/snapshotTokens.js';
import { checkSnapshot, take } from './activeContracts.js';

/** `POST /v2/state/active-contracts-page`: a page of the active contracts, with a token for the next page. */
export function getActiveContractsPage({ body, participant }: Call): Answer {
  const { ledger, settings } = participant;
  const { format, pageSize, checksums, token, ...request } = readContractsPageRequest(parseBody(body), settings);
  const activeAtOffset = token?.activeAtOffset ?? request.activeAtOffset ?? ledger.end;
  checkSnapshot(activeAtOffset, format, ledger);
  const snapshot = readSnapshot(
    { offset: activeAtOffset, format, after: token?.after },
    { ledger, profile: settings.profile },
  );
  // one entry more than requested shows that there is another page
  const entries = take(snapshot, pageSize + 1);
  const page = entries.slice(0, pageSize);
  const last = entries.length > pageSize ? page.at(-1) : undefined;
  return jsonAnswer({
    activeContracts: page.map(({ workflowId, contractEntry }) => ({
      workflowId,
      contractEntry,
      // only lists and streams have this token
      streamContinuationToken: '',
    })),
    activeAtOffset,
    nextPageToken: last === undefined ? null : pageToken({ activeAtOffset, after: last.position }, checksums),
  });
}
