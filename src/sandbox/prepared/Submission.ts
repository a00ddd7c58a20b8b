import type { Command } from '../submission/Command.js';

/** What a prepare request asks for. */
export interface Submission {
  readonly commandId: string;
  readonly party: string;
  /** `''` for any. */
  readonly synchronizerId: string;
  /** In microseconds since the epoch, as all times of a prepared transaction. */
  readonly minLedgerTime: number | undefined;
  readonly maxRecordTime: number | undefined;
  readonly command: Command;
}
