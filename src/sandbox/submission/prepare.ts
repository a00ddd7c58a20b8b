import { Cursor } from '../decoding/Cursor.js';
import { parseBody } from '../decoding/parseBody.js';
import type { Answer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import { jsonAnswer } from '../http/jsonAnswer.js';
import type { Participant } from '../participant/Participant.js';
import { buildPrepared } from '../prepared/buildPrepared.js';
import { encodePrepared } from '../prepared/encodePrepared.js';
import { loadVendor } from '../prepared/loadVendor.js';
import type { PreparedBytes } from '../prepared/PreparedBytes.js';
import type { Vendor } from '../prepared/Vendor.js';
import { checkCommand } from './checkCommand.js';
import { checkHashingScheme } from './checkHashingScheme.js';
import { estimateCost } from './estimateCost.js';
import { lieAbout } from './lieAbout.js';
import { locate } from './locate.js';
import { readPrepare } from './readPrepare.js';

/** `POST /v2/interactive-submission/prepare` */
export async function prepare({ body, participant, fault }: Call): Promise<Answer> {
  const vendor = await loadVendor();
  const request = parseBody(body);
  const truth = await prepared(request, participant, vendor);
  const lie =
    fault?.kind === 'lie' ? await prepared(new Cursor(lieAbout(request.value, fault)), participant, vendor) : truth;
  const { bytes } = fault?.kind === 'lie' && fault.about === 'hash' ? truth : lie;
  const { hash } = fault?.kind === 'lie' && fault.about === 'transaction' ? truth : lie;
  const verbose = request.field('verboseHashing').boolean();
  const estimate = request.field('estimateTrafficCost').optional((asked) => !asked.field('disabled').boolean()) ?? true;
  return jsonAnswer({
    preparedTransaction: Buffer.from(bytes).toString('base64'),
    preparedTransactionHash: hash.toString('base64'),
    hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2',
    hashingDetails: verbose ? `${hash.toString('hex')} # hash of the prepared transaction` : null,
    costEstimation: estimate ? estimateCost(bytes.length) : null,
  });
}

function prepared(request: Cursor, participant: Participant, vendor: Vendor): Promise<PreparedBytes> {
  const { hashingSchemeVersion, ...submission } = readPrepare(request);
  checkHashingScheme(hashingSchemeVersion, participant.settings.profile, 'FAILED_TO_PREPARE_TRANSACTION');
  checkCommand(submission, participant);
  const synchronizerId = locate(submission, participant);
  return encodePrepared(buildPrepared({ ...submission, synchronizerId }, participant.ledger), vendor);
}
