import { ConnectionError } from '../errors/ConnectionError.js';
import { pathOf } from '../http/pathOf.js';

/**
 * Why a socket was not opened, where `ws` tells: by its words alone, of which a number goes further at most, since answers
 * may quote what was sent. Any other error as it is.
 */
export function refusalOf(error: unknown, url: string): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  const words = cause instanceof Error ? cause.message : '';
  const status = /^Unexpected server response: (\d{3})$/.exec(words)?.[1];
  if (status !== undefined) return new ConnectionError(pathOf(url), `the upgrade was answered with ${status}`);
  if (/^Server sent .*subprotocol$/.test(words))
    return new ConnectionError(pathOf(url), 'the upgrade was answered without the subprotocol');
  return error;
}
