import type { Cursor } from '../decoding/Cursor.js';
import type { SandboxProfile } from '../SandboxProfile.js';
import { readEventFormat } from './readEventFormat.js';
import { readTransactionFormat } from './readTransactionFormat.js';
import type { UpdateFormat } from './UpdateFormat.js';

/** An update format; each of its parts is optional. */
export function readUpdateFormat(cursor: Cursor, profile: SandboxProfile): UpdateFormat {
  const topology = cursor
    .field('includeTopologyEvents')
    .optional((format) => format.field('includeParticipantAuthorizationEvents').optional((events) => events));
  return {
    transactions: cursor.field('includeTransactions').optional((format) => readTransactionFormat(format, profile)),
    reassignments: cursor.field('includeReassignments').optional((format) => readEventFormat(format, profile)),
    topology: topology
      ?.field('parties')
      .list()
      .map((party) => party.string()),
  };
}
