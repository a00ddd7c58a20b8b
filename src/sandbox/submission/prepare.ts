import { parseBody } from '../decoding/parseBody.js';
import type { Answer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import { jsonAnswer } from '../http/jsonAnswer.js';
import { checkCommand } from './checkCommand.js';
import { checkHashingScheme } from './checkHashingScheme.js';
import { encodePrepared } from './encodePrepared.js';
import { estimateCost } from './estimateCost.js';
import { hashPrepared } from './hashPrepared.js';
import { locate } from './locate.js';
import { readPrepare } from './readPrepare.js';

/** `POST /v2/interactive-submission/prepare` */
export function prepare({ body, participant }: Call): Answer {
  const request = parseBody(body);
  const submission = readPrepare(request);
  checkHashingScheme(submission.hashingSchemeVersion, participant.settings.profile);
  checkCommand(submission, participant);
  const preparedTransaction = encodePrepared({ ...submission, synchronizerId: locate(submission, participant) });
  const bytes = Buffer.from(preparedTransaction, 'base64');
  const verbose = request.field('verboseHashing').boolean();
  const estimate = request.field('estimateTrafficCost').optional((asked) => !asked.field('disabled').boolean()) ?? true;
  return jsonAnswer({
    preparedTransaction,
    preparedTransactionHash: hashPrepared(bytes).toString('base64'),
    hashingSchemeVersion: submission.hashingSchemeVersion,
    hashingDetails: verbose ? `00000030 # purpose\n${bytes.toString('hex')} # submission` : null,
    costEstimation: estimate ? estimateCost(bytes.length) : null,
  });
}
