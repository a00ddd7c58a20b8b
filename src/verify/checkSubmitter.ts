import type { Metadata } from '@canton-network/core-ledger-proto';
import type { PrepareRequest } from '../codecs/PrepareRequest.js';
import { refusal } from './refusal.js';

/** Refuses a transaction for other parties, under another command id or on another synchronizer than was asked for. */
export function checkSubmitter({ submitterInfo, synchronizerId }: Metadata, request: PrepareRequest): void {
  const given = new Set(submitterInfo?.actAs);
  const asked = new Set(request.actAs);
  if (given.size !== asked.size || [...asked].some((party) => !given.has(party))) {
    throw refusal('parties', 'it acts for other parties', 'actAs');
  }
  if (submitterInfo?.commandId !== request.commandId) {
    throw refusal('parties', 'it is another command', 'commandId');
  }
  if ((request.synchronizerId ?? '') !== '' && synchronizerId !== request.synchronizerId) {
    throw refusal('parties', 'it goes to another synchronizer', 'synchronizerId');
  }
}
