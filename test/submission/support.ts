import type { HttpResponse } from '../../src/http/HttpPort.js';
import type { ExecuteRequest } from '../../src/index.js';
import { ok, transactionValue } from '../helpers/wire.js';

/** Values that must not appear in any error or diagnostic. */
export const secrets = { prepared: 'c2VjcmV0IHByZXBhcmVk', signature: 'c2VjcmV0IHNpZ25hdHVyZQ==' } as const;

/** A valid request. */
export const signedRequest: ExecuteRequest = {
  preparedTransaction: secrets.prepared,
  partySignatures: {
    signatures: [
      {
        party: 'alice::1220ab',
        signatures: [
          {
            format: 'SIGNATURE_FORMAT_CONCAT',
            signature: secrets.signature,
            signedBy: '1220f0',
            signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519',
          },
        ],
      },
    ],
  },
  submissionId: 'try-1',
  hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2',
  userId: 'me',
};

/** The response to a submission that was committed. */
export const committedAnswer = (offset: number): HttpResponse => ok({ transaction: transactionValue(offset) });
