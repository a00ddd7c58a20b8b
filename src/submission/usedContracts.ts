import { from, map, mergeMap, type Observable, toArray } from 'rxjs';
import { readContractEvents } from '../feed/contractEvents.js';
import type { Run, UsedContracts } from './Run.js';

/** What is known if nothing was read. */
export const noContracts: UsedContracts = { disclosed: [] };

/** Reads the events of the contracts that commands use. */
export const readContracts = (
  { client, submission, strategy }: Run,
  contractIds: readonly string[],
): Observable<UsedContracts> => {
  const selection = { parties: [...new Set([...submission.actAs, ...strategy.readAs])], includeCreatedEventBlob: true };
  return from(contractIds).pipe(
    mergeMap(
      (contractId) =>
        readContractEvents(client, contractId, selection).pipe(map((events) => ({ contractId, ...events }))),
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
