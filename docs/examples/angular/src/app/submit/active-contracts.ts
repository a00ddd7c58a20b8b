import { acsDelta, type CreatedEvent, type Ledger } from 'canton-rx';
import { concatMap, map, reduce, type Observable } from 'rxjs';

/** The active contracts of a party: those that were created and not archived, from the start of the ledger to its end. */
export const activeContracts = (ledger: Ledger, party: string): Observable<readonly CreatedEvent[]> =>
  ledger.ledgerEnd().pipe(
    concatMap((endInclusive) =>
      ledger.updates({ beginExclusive: 0, endInclusive, updateFormat: acsDelta({ parties: [party] }) }),
    ),
    reduce((active, update) => {
      if (update._tag !== 'Transaction') return active;
      for (const event of update.events) {
        if (event._tag === 'CreatedEvent') active.set(event.contractId, event);
        if (event._tag === 'ArchivedEvent') active.delete(event.contractId);
      }
      return active;
    }, new Map<string, CreatedEvent>()),
    map((active) => [...active.values()].filter(({ signatories }) => signatories.includes(party)).reverse()),
  );
