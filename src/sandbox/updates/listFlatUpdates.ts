import type { Answer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import { listUpdates } from './listUpdates.js';
import { refuseDeprecated } from './refuseDeprecated.js';

/** `POST /v2/updates/flats`: the older name of `/v2/updates`. */
export async function listFlatUpdates(call: Call): Promise<Answer> {
  refuseDeprecated(call.participant.settings, 'The endpoint /v2/updates/flats');
  return listUpdates(call);
}
