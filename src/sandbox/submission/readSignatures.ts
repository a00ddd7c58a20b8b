import type { Cursor } from '../decoding/Cursor.js';
import { readBase64 } from '../decoding/readBase64.js';
import type { PartySignature } from './PartySignature.js';

/** All signatures of an execute request, whoever they are of. */
export function readSignatures(cursor: Cursor): readonly PartySignature[] {
  return cursor
    .required('signatures')
    .list()
    .flatMap((entry) => {
      const party = entry.required('party').string();
      const signatures = entry.required('signatures').list();
      return signatures.map((signature) => readSignature(party, signature));
    });
}

function readSignature(party: string, cursor: Cursor): PartySignature {
  return {
    party,
    format: cursor.required('format').string(),
    signature: readBase64(cursor.required('signature')),
    signedBy: cursor.required('signedBy').string(),
    algorithm: cursor.required('signingAlgorithmSpec').string(),
  };
}
