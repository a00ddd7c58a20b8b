import { updateIdOf } from '../wire/updateIdOf.js';
import type { Fallbacks } from './Fallbacks.js';

interface Header {
  readonly offset: number;
  readonly updateId: string;
  readonly synchronizerId: string;
  readonly recordTime: string;
}

/** What all kinds of update have: by default the next offset, one second after what was before. */
export function completeHeader(input: Partial<Header>, { ledger, synchronizers }: Fallbacks): Header {
  const offset = input.offset ?? ledger.end + 1;
  const synchronizerId = input.synchronizerId ?? synchronizers[0] ?? '';
  return {
    offset,
    updateId: input.updateId ?? updateIdOf('appended', offset, ledger.commits),
    synchronizerId,
    recordTime: input.recordTime ?? ledger.recordTimes.next(synchronizerId),
  };
}
