import { ConnectionError } from '../errors/ConnectionError.js';
import { errorOf } from '../errors/errorOf.js';
import { httpStatusOf } from './httpStatusOf.js';

/** The JSON of a message; throws the typed error that it is, since in a socket the ledger tells errors as messages. */
export function saidIn(text: string, path: string, secrets: readonly string[]): unknown {
  const json = jsonOf(text, path);
  if ('update' in json) return json;
  if ('code' in json && 'cause' in json)
    throw errorOf({ path, status: httpStatusOf(json['grpcCodeValue']), text, secrets });
  // of a gateway, say: what it means, a request by HTTP finds out
  throw new ConnectionError(path, 'the message is no element');
}

function jsonOf(text: string, path: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    // neither its text nor JSON.parse's words go further: both may hold a payload
    throw new ConnectionError(path, 'the message is not whole JSON');
  }
}
