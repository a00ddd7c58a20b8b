import { from, map, mergeMap, type Observable, toArray } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { DisclosedContract } from '../codecs/SubmissionRequest.js';
import { readContractEvents } from '../feed/contractEvents.js';
import type { Run } from './Run.js';

/** What the participant knows of the contracts that commands use. */
export interface UsedContracts {
  /** What interpretation needs, even if a contract is archived by now. Without what the participant has pruned. */
  readonly disclosed: readonly DisclosedContract[];
  /** The offset of the archival of one of them. No attempt is committed after it. */
  readonly archivedAt?: Offset | undefined;
}

/** What is known if nothing was read. */
export const noContracts: UsedContracts = { disclosed: [] };

/** Reads the events of the contracts that commands use. */
export const readContracts = (
  { service, submission, strategy }: Run,
  contractIds: readonly string[],
): Observable<UsedContracts> => {
  const selection = { parties: [...new Set([...submission.actAs, ...strategy.readAs])], includeCreatedEventBlob: true };
  return from(contractIds).pipe(
    mergeMap(
      (contractId) =>
        readContractEvents(service.link, contractId, selection).pipe(map((events) => ({ contractId, ...events }))),
      maxRequests,
    ),
    toArray(),
    map((contracts) => ({
      disclosed: contracts.flatMap(({ contractId, created: { templateId, createdEventBlob } = {} }) =>
        templateId && createdEventBlob ? [{ templateId, contractId, createdEventBlob, synchronizerId: '' }] : [],
      ),
      archivedAt: contracts.find(({ archived }) => archived !== undefined)?.archived?.offset,
    })),
  );
};

/** How many contracts to look up at the same time. */
const maxRequests = 4;
