import { catchError, map, type Observable, of } from 'rxjs';
import { optional } from '../codecs/internal/field.js';
import { envelope, message } from '../codecs/internal/message.js';
import { type Party, Offset } from '../codecs/scalars.js';
import { acsDelta } from '../codecs/UpdateFormat.js';
import { isLedgerError, isTransient } from '../errors/LedgerError.js';
import { decodeWith, exchange } from '../http/exchange.js';
import type { Link } from '../http/Link.js';

const path = '/v2/events/events-by-contract-id';

/** The events of a contract, as far as they are needed here. */
const ContractEvents = message<{ readonly created?: { readonly offset: Offset } }>('ContractEvents', {
  created: optional(envelope('createdEvent', message('CreatedEvent', { offset: Offset }))),
});

/**
 * Reads the offset at which a contract was created, wherever it was moved since. Emits `undefined` if the participant does not
 * have it: the contract came by an assignment, or the path is not served.
 */
export const readCreatedOffset = (
  link: Link,
  contractId: string,
  parties: readonly Party[] | 'any',
): Observable<Offset | undefined> => {
  const { includeTransactions } = acsDelta({ parties });
  const body = { contractId, eventFormat: includeTransactions?.eventFormat };
  return exchange(link, { method: 'POST', path, body }, decodeWith(path, ContractEvents)).pipe(
    map(({ created }) => created?.offset),
    catchError((error: unknown) => {
      if (isLedgerError(error) && !isTransient(error)) return of(undefined);
      throw error;
    }),
  );
};
