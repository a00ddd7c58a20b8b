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

/** Rejects a deprecated feature that 3.6 serves only if it is enabled. */
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
  const { format, filter } = chooseFormat(body, 'updateFormat', settings);
  return format === undefined ? legacyFormat(readEventFormat(filter, profile)) : readUpdateFormat(format, profile);
}

/** Returns the format of a request, or its legacy filter as a format. A request has one of the two. */
export function chooseFormat(
  body: JsonCursor,
  field: 'updateFormat' | 'eventFormat',
  settings: Settings,
): { readonly format: JsonCursor; readonly filter?: never } | { readonly format?: never; readonly filter: JsonCursor } {
  const [filter, format, verbose] = [body.field('filter'), body.field(field), body.field('verbose').boolean()];
  const name = field.replace('Format', '_format');
  if (!filter.absent || verbose) rejectDeprecated(settings, 'The parameters filter and verbose');
  if (!format.absent && !filter.absent)
    throw invalidArgument(`Both ${name} and filter are set. Please use one of them.`);
  if (!format.absent && verbose) throw invalidArgument(`Both ${name} and verbose are set. Please use one of them.`);
  if (!format.absent) return { format };
  if (filter.absent) throw invalidArgument(`Either filter/verbose or ${name} is required. Please use one of them.`);
  return { filter };
}

function invalidArgument(cause: string) {
  return requestError('INVALID_ARGUMENT', cause);
}
