import type { Answer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import { jsonAnswer } from '../http/jsonAnswer.js';

/** `GET /v2/parties/participant-id` */
export const getParticipantId = ({ participant }: Call): Answer =>
  jsonAnswer({ participantId: participant.settings.participantId });
