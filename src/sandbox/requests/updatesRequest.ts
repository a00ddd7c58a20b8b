import { requestError } from '../errors.js';
import type { Settings } from '../participant/Settings.js';
import type { JsonCursor } from './JsonCursor.js';
import { legacyFormat, readEventFormat, readUpdateFormat, type UpdateFormat } from './formats.js';

/** The body of a request for updates. */
export interface UpdatesRequest {
  readonly beginExclusive: number;
  readonly endInclusive: number | undefined;
  readonly descending: boolean;
  readonly format: UpdateFormat;
}

/** Rejects what 3.6 serves only if it is enabled. */
export function rejectDeprecated({ profile, deprecatedApis }: Settings, what: string): void {
  if (profile !== '3.6' || deprecatedApis) return;
  const cause = `${what} deprecated since Canton 3.4: disabled by default from 3.6 on, gone in 3.7.`;
  throw requestError('DEPRECATED_API_DISABLED', cause);
}

/** Reads the body of a request for updates. */
export function readUpdatesRequest(body: JsonCursor, settings: Settings): UpdatesRequest {
  const beginExclusive = body.field('beginExclusive').integer();
  const endInclusive = body.field('endInclusive').optional((end) => end.integer());
  const descending = settings.profile !== '3.4' && body.field('descendingOrder').boolean();
  return { beginExclusive, endInclusive, descending, format: readFormat(body, settings) };
}

function readFormat(body: JsonCursor, settings: Settings): UpdateFormat {
  const { profile } = settings;
  const [filter, format, verbose] = [body.field('filter'), body.field('updateFormat'), body.field('verbose').boolean()];
  if (!filter.absent || verbose) rejectDeprecated(settings, 'The parameters filter and verbose');
  if (!format.absent && !filter.absent)
    throw invalidArgument('Both update_format and filter are set. Please use one of them.');
  if (!format.absent && verbose)
    throw invalidArgument('Both update_format and verbose are set. Please use one of them.');
  if (!format.absent) return readUpdateFormat(format, profile);
  if (filter.absent)
    throw invalidArgument('Either filter/verbose or update_format is required. Please use one of them.');
  return legacyFormat(readEventFormat(filter, profile));
}

function invalidArgument(cause: string) {
  return requestError('INVALID_ARGUMENT', cause);
}
