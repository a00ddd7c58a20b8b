import { acsDelta } from '../../../src/codecs/formats.js';
import type { ExecuteRequest } from '../../../src/codecs/ExecuteRequest.js';
import type { PrepareRequest } from '../../../src/codecs/PrepareRequest.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** What a client sends and nobody else is to see. */
export const sent = {
  token: 'TOKEN-SECRET-7e1fd3b2c4a5',
  header: 'HEADER-SECRET-0b9d8a7c6e5f',
  signature: base64('a signature that nobody may see'),
  preparedTransaction: base64('a prepared transaction that nobody may see'),
  argument: 'ARGUMENT-SECRET-1a2b3c4d5e6f',
};

/** What the ledger answers, and is for its subscriber alone. */
export const payload = 'PAYLOAD-SECRET-f6e5d4c3b2a1';

export const all = [...Object.values(sent), payload];

const party = 'alice::1220ab';
export const updateFormat = acsDelta({ parties: [party] });

export const prepareRequest: PrepareRequest = {
  commandId: 'c1',
  commands: [{ CreateCommand: { templateId: '#p:M:T', createArguments: { note: sent.argument } } }],
  actAs: [party],
};

export const executeRequest: ExecuteRequest = {
  preparedTransaction: sent.preparedTransaction,
  hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2',
  partySignatures: {
    signatures: [
      {
        party,
        signatures: [
          {
            format: 'SIGNATURE_FORMAT_RAW',
            signature: sent.signature,
            signedBy: '1220ab',
            signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519',
          },
        ],
      },
    ],
  },
};
