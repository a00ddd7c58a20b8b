import { concatMap, map, type Observable, of } from 'rxjs';
import { bareOffset, type LedgerPosition } from '../../codecs/LedgerPosition.js';
import type { ContractPolicies, ContractQuery, ContractsSource } from '../ContractQuery.js';
import { ContractsFold } from '../ContractsFold.js';
import { type LoadedContracts, maker, type Moment } from '../readContracts.js';
import { findOffset } from '../snapshot/transports.js';
import { readParticipant } from '../withPosition.js';

/** Finds the offset of an empty selection. Nothing shows whether the ledger is the one of before. */
export const readNothing = (
  source: ContractsSource,
  query: ContractQuery & ContractPolicies,
  { activeAtOffset, notBefore = 0 }: Moment,
  before: LedgerPosition | undefined,
): Observable<LoadedContracts & { readonly position: LedgerPosition }> =>
  (activeAtOffset === undefined ? findOffset(source, notBefore) : of(activeAtOffset)).pipe(
    concatMap((offset = notBefore) =>
      (before === undefined ? readParticipant(source) : of(before.participantId)).pipe(
        map((participantId) => ({
          ...{ offset, fold: new ContractsFold(maker(source, query)) },
          position: { ...bareOffset(offset), participantId },
        })),
      ),
    ),
  );
