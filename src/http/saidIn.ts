import { ConnectionError } from '../errors/ConnectionError.js';
import { errorOf } from '../errors/errorOf.js';
import { httpStatusOf } from './httpStatusOf.js';

/** The JSON of a message; throws the typed error that it is, since in a socket the ledger tells errors as messages. */
export function saidIn(text: string, path: string, secrets: readonly string[]): unknown {
  const json = jsonOf(text, path);
  if (isError(json)) throw errorOf({ path, status: httpStatusOf(json['grpcCodeValue']), text, secrets });
  return json;
}

function jsonOf(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // neither its text nor JSON.parse's words go further: both may hold a payload
    throw new ConnectionError(path, 'the message is not whole JSON');
  }
}

/** An element of a stream has one key, and none of these. */
const isError = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === 'object' && json !== null && 'code' in json && 'cause' in json && !('update' in json);
