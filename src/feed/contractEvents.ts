import { catchError, type Observable } from 'rxjs';
import { optional, text } from '../codecs/internal/field.js';
import { envelope, message } from '../codecs/internal/message.js';
import type { ArchivedEvent, CreatedEvent } from '../codecs/Event.js';
import { Offset, type Party } from '../codecs/scalars.js';
import { acsDelta } from '../codecs/UpdateFormat.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isTransient } from '../errors/verdict.js';
import { isUnavailable } from '../history/participant.js';
import { decodeWith, exchange } from '../client/exchange.js';
import type { Client } from '../client/Client.js';

/** The events of a contract, as far as they are needed here. Absent is what the participant does not have. */
interface ContractEvents {
  readonly created?: Created;
  readonly archived?: Pick<ArchivedEvent, 'offset'>;
}

type Created = Pick<CreatedEvent, 'templateId' | 'createdEventBlob' | 'offset'>;

const ContractEvents = message<ContractEvents>('ContractEvents', {
  created: optional(
    envelope(
      'createdEvent',
      message<Created>('CreatedEvent', { templateId: text, createdEventBlob: optional(text), offset: Offset }),
    ),
  ),
  archived: optional(envelope('archivedEvent', message('ArchivedEvent', { offset: Offset }))),
});

const path = '/v2/events/events-by-contract-id';

/**
 * Reads where a contract was created and archived, wherever it was moved since. Emits no event if the participant has none: the
 * contract is unknown or pruned, it came by an assignment, or a gateway blocks the path.
 */
export const readContractEvents = (
  client: Client,
  contractId: string,
  selection: { readonly parties: readonly Party[] | 'any'; readonly includeCreatedEventBlob?: boolean },
): Observable<ContractEvents> => {
  const body = { contractId, eventFormat: acsDelta(selection).includeTransactions?.eventFormat };
  return exchange(client, { method: 'POST', path, body }, decodeWith(path, ContractEvents)).pipe(
    catchError((error: unknown) => {
      if (isUnavailable(error) || (isLedgerError(error) && !isTransient(error))) return [{}];
      throw error;
    }),
  );
};
