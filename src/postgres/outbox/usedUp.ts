import { catchError, concatMap, EMPTY, filter, from, map, type Observable, take } from 'rxjs';
import type { Client } from '../../client/Client.js';
import type { Offset } from '../../codecs/scalars.js';
import type { CommandsRequest } from '../../codecs/SubmissionRequest.js';
import { ledgerEffects } from '../../codecs/UpdateFormat.js';
import { readContractEvents } from '../../feed/contractEvents.js';
import type { Ledger } from '../../ledger/Ledger.js';
import type { OutboxRow } from './OutboxRows.js';

/**
 * Emits an offset right before a transaction that has archived a contract of a command, and has the id of the command: a participant
 * looks for contracts before it looks for duplicates, so it refuses a command for a contract that the command has used up itself.
 * Completes if there is none, or if the participant does not show it.
 */
export const beforeOwnArchival = (
  ledger: Ledger,
  client: Client,
  { request, commandId }: OutboxRow<CommandsRequest>,
): Observable<Offset> => {
  const { commands, actAs: parties } = request;
  const ids = commands.flatMap((each) => ('ExerciseCommand' in each ? [each.ExerciseCommand.contractId] : []));
  const updateFormat = ledgerEffects({ parties, topology: false });
  return from(new Set(ids)).pipe(
    concatMap((id) => readContractEvents(client, id, { parties })),
    concatMap(({ archived }) => {
      if (archived === undefined) return EMPTY;
      const { offset } = archived;
      const range = { beginExclusive: offset - 1, endInclusive: offset };
      return ledger.updates({ ...range, updateFormat }, { retry: { giveUpAfterMs: 0 } });
    }),
    filter((update) => update._tag === 'Transaction' && update.commandId === commandId),
    map(({ offset }) => offset - 1),
    take(1),
    catchError(() => EMPTY),
  );
};
