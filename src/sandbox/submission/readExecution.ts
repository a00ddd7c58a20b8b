import { randomUUID } from 'node:crypto';
import type { Cursor } from '../decoding/Cursor.js';
import { readBase64 } from '../decoding/readBase64.js';
import { readLedgerString } from '../decoding/readLedgerString.js';
import { readTransactionFormat } from '../formats/readTransactionFormat.js';
import type { SandboxProfile } from '../SandboxProfile.js';
import type { Execution } from './Execution.js';
import { hashingSchemes } from './hashingSchemes.js';
import { readDeduplicationPeriod } from './readDeduplicationPeriod.js';
import { readMinLedgerTime } from './readMinLedgerTime.js';
import { readSignatures } from './readSignatures.js';

/** Reads the body of an execute request. The decoder needs the deduplication period, whatever the specification says. */
export function readExecution(body: Cursor, profile: SandboxProfile): Execution {
  const submissionId = body.required('submissionId');
  return {
    preparedTransaction: readBase64(body.required('preparedTransaction')),
    signatures: readSignatures(body.required('partySignatures')),
    isDuplicate: readDeduplicationPeriod(body.required('deduplicationPeriod')),
    submissionId: submissionId.value === '' ? randomUUID() : readLedgerString(submissionId),
    userId: body.field('userId').string(),
    hashingSchemeVersion: body.required('hashingSchemeVersion').oneOfStrings(hashingSchemes),
    minLedgerTime: body.field('minLedgerTime').optional(readMinLedgerTime),
    format: body.field('transactionFormat').optional((format) => readTransactionFormat(format, profile)),
  };
}
