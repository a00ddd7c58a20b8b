import { catchError, from, map, mergeMap, type Observable, toArray } from 'rxjs';
import type { Command } from '../codecs/Command.js';
import type { CommandsRequest } from '../codecs/CommandsRequest.js';
import { acsDelta } from '../codecs/formats.js';
import { optional, text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import type { DisclosedContract } from '../codecs/PrepareRequest.js';
import { Offset } from '../codecs/scalars.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isTransient } from '../errors/verdict.js';
import type { Service } from '../feed/Service.js';
import { decodeWith, exchange } from '../http/exchange.js';

/** What the participant knows of a contract that commands use. */
interface UsedContract {
  /** What interpretation needs, even if the contract is archived by now. Absent if the participant has pruned it. */
  readonly disclosed?: DisclosedContract;
  /** The offset at which the contract was archived, if it was. */
  readonly archivedAt?: Offset;
}

/** Looks up the contracts on which commands exercise a choice. */
export const readUsedContracts = (service: Service, request: CommandsRequest): Observable<readonly UsedContract[]> =>
  from(new Set(request.commands.flatMap(contractIdOf))).pipe(
    mergeMap((contractId) => readContract(service, contractId, request), maxRequests),
    toArray(),
  );

/** How many contracts to look up at the same time. */
const maxRequests = 4;

const contractIdOf = (command: Command): readonly string[] =>
  'ExerciseCommand' in command ? [command.ExerciseCommand.contractId] : [];

const path = '/v2/events/events-by-contract-id';

function readContract(
  { link }: Service,
  contractId: string,
  { actAs, readAs }: CommandsRequest,
): Observable<UsedContract> {
  const parties = [...new Set([...actAs, ...(readAs ?? [])])];
  const { includeTransactions } = acsDelta({ parties, includeCreatedEventBlob: true });
  const body = { contractId, eventFormat: includeTransactions?.eventFormat };
  return exchange(link, { method: 'POST', path, body }, decodeWith(path, ContractEvents)).pipe(
    map(({ created, archived }) => ({
      ...(created?.createdEvent.createdEventBlob && {
        disclosed: {
          templateId: created.createdEvent.templateId,
          contractId,
          createdEventBlob: created.createdEvent.createdEventBlob,
          synchronizerId: '',
        },
      }),
      ...(archived && { archivedAt: archived.archivedEvent.offset }),
    })),
    catchError((error: unknown) => {
      // the contract is unknown or pruned, or a gateway blocks the path
      if (isLedgerError(error) && !isTransient(error)) return [{}];
      throw error;
    }),
  );
}

/** The events of a contract, as far as they are needed here. */
interface ContractEvents {
  readonly created?: { readonly createdEvent: Created };
  readonly archived?: { readonly archivedEvent: { readonly offset: Offset } };
}

interface Created {
  readonly templateId: string;
  readonly createdEventBlob?: string;
}

const ContractEvents = message<ContractEvents>('ContractEvents', {
  created: optional(
    message<{ readonly createdEvent: Created }>('Created', {
      createdEvent: message<Created>('CreatedEvent', { templateId: text, createdEventBlob: optional(text) }),
    }),
  ),
  archived: optional(message('Archived', { archivedEvent: message('ArchivedEvent', { offset: Offset }) })),
});
