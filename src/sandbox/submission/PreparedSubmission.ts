import type { Command } from './Command.js';

/** What the bytes of a prepared transaction say. */
export interface PreparedSubmission {
  readonly userId: string;
  readonly commandId: string;
  readonly party: string;
  readonly readAs: readonly string[];
  readonly synchronizerId: string;
  readonly hashingSchemeVersion: string;
  readonly maxRecordTime: string | null;
  readonly command: Command;
}
