import type { Call } from '../http/Call.js';
import { refuseDeprecated } from './refuseDeprecated.js';
import { streamUpdates } from './streamUpdates.js';

/** `GET /v2/updates/flats` as a WebSocket: the older name of `/v2/updates`. */
export async function* streamFlatUpdates(call: Call): AsyncGenerator<object> {
  refuseDeprecated(call.participant.settings, 'The endpoint /v2/updates/flats');
  yield* streamUpdates(call);
}
