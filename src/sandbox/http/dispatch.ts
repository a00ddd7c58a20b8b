import { Refusal } from '../errors/Refusal.js';
import { refusalAnswer } from '../errors/refusalAnswer.js';
import { refused } from '../errors/refused.js';
import type { Answer } from './Answer.js';
import type { Call } from './Call.js';
import { jsonAnswer } from './jsonAnswer.js';
import { routes } from './routes.js';
import { streamAt } from './streamAt.js';
import { textAnswer } from './textAnswer.js';
import type { Work } from './Work.js';

/** Has a request handled by its endpoint. */
export async function dispatch({ method, path, headers }: Work, call: Call): Promise<Answer> {
  const found = routes.get(path);
  const { interfaceOnly } = call.participant.settings;
  if (found === undefined || (interfaceOnly && found.essential !== true)) {
    const errors = [`HttpMethod(${method}), uri: http://${headers.host ?? ''}${path}`];
    return jsonAnswer({ errors, status: 404, ledgerApiError: null }, 404);
  }
  if (method === 'GET' && streamAt(path, call.participant.settings) !== undefined) {
    return textAnswer(400, 'Expected WebSocket Upgrade request');
  }
  if (found.method !== method) return textAnswer(405, 'Method Not Allowed');
  try {
    if (found.open !== true && !call.isAuthorized()) throw refused('UNAUTHENTICATED', 'no good token');
    return await found.handler(call);
  } catch (error) {
    if (error instanceof Refusal) return refusalAnswer(error, call.trace.id);
    return textAnswer(500, `The sandbox failed: ${String(error)}`);
  }
}
