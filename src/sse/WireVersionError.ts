import { TaggedError } from '../errors/internal/message.js';
import { wireVersion } from './ContractsEvent.js';

/**
 * The server sends events of another version than the client reads. Permanent: the page or the server must be updated. It is
 * not an error of a ledger, so it is not in the union `LedgerError`.
 *
 * @category Server-sent events
 */
export class WireVersionError extends TaggedError<'WireVersionError'> {
  override get summary(): string {
    return 'This page and its server are of different releases. Load the page again.';
  }

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** The version of the events. */
    readonly version: number,
  ) {
    const older = version > wireVersion ? 'the page' : 'the server';
    super(
      'WireVersionError',
      `The server sends version ${version} of its events, and only ${wireVersion} can be read.`,
      {
        Path: path,
        Next: `update canton-rx in ${older}`,
      },
    );
  }
}
