import type { Cursor } from '../decoding/Cursor.js';
import { refused } from '../errors/refused.js';
import { legacyFormat } from '../formats/legacyFormat.js';
import { readEventFormat } from '../formats/readEventFormat.js';
import { readUpdateFormat } from '../formats/readUpdateFormat.js';
import type { UpdateFormat } from '../formats/UpdateFormat.js';
import type { Settings } from '../participant/Settings.js';
import { refuseDeprecated } from './refuseDeprecated.js';
import type { UpdatesRequest } from './UpdatesRequest.js';

/** Reads the body of a request for updates. */
export function readUpdatesRequest(body: Cursor, settings: Settings): UpdatesRequest {
  const beginExclusive = body.field('beginExclusive').integer();
  const endInclusive = body.field('endInclusive').optional((end) => end.integer());
  const descending = settings.profile !== '3.4' && body.field('descendingOrder').boolean();
  return { beginExclusive, endInclusive, descending, format: readFormat(body, settings) };
}

function readFormat(body: Cursor, settings: Settings): UpdateFormat {
  const { profile } = settings;
  const [filter, format, verbose] = [body.field('filter'), body.field('updateFormat'), body.field('verbose').boolean()];
  if (!filter.absent || verbose) refuseDeprecated(settings, 'The parameters filter and verbose');
  if (!format.absent && !filter.absent) throw invalid('Both update_format and filter are set. Please use one of them.');
  if (!format.absent && verbose) throw invalid('Both update_format and verbose are set. Please use one of them.');
  if (!format.absent) return readUpdateFormat(format, profile);
  if (filter.absent) throw invalid('Either filter/verbose or update_format is required. Please use one of them.');
  return legacyFormat(readEventFormat(filter, profile));
}

function invalid(cause: string) {
  return refused('INVALID_ARGUMENT', cause);
}
