import { parseBody } from '../decoding/parseBody.js';
import { Refusal } from '../errors/Refusal.js';
import type { Answer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import { decodePrepared } from '../prepared/decodePrepared.js';
import { loadVendor } from '../prepared/loadVendor.js';
import { accept } from './accept.js';
import { readExecution } from './readExecution.js';

/** `POST /v2/interactive-submission/executeAndWaitForTransaction` */
export async function execute({ body, participant, trace, fault }: Call): Promise<Answer> {
  const vendor = await loadVendor();
  const execution = readExecution(parseBody(body), participant.settings.profile);
  const { submissionId, userId } = execution;
  try {
    const { prepared, hash } = await decodePrepared(execution.preparedTransaction, vendor);
    const changeId = JSON.stringify([userId, prepared.party, prepared.commandId]);
    // from here on nothing waits: what is checked is what is committed
    return accept({ execution, prepared, hash, changeId, trace }, participant, fault);
  } catch (error) {
    if (!(error instanceof Refusal) || typeof error.body === 'string') throw error;
    throw new Refusal(error.status, { ...error.body, correlationId: submissionId });
  }
}
