import type { Cursor } from '../decoding/Cursor.js';
import { refused } from '../errors/refused.js';
import type { SandboxProfile } from '../SandboxProfile.js';
import type { EventFormat } from './EventFormat.js';
import { readFilters } from './readFilters.js';

const party = /^[A-Za-z0-9:\-_ ]{1,255}$/;

/** An event format, or the legacy filter, which is the same but for `verbose`. */
export function readEventFormat(cursor: Cursor, profile: SandboxProfile): EventFormat {
  cursor.field('verbose').boolean();
  const byParty = cursor
    .field('filtersByParty')
    .entries()
    .map(([name, filters]) => [name, readFilters(filters, profile)] as const);
  const anyParty = cursor.field('filtersForAnyParty').optional((filters) => readFilters(filters, profile));
  for (const [name] of byParty) {
    if (!party.test(name)) throw refused('INVALID_FIELD', `Invalid party "${name}" in ${cursor.at}.filtersByParty`);
  }
  if (byParty.length === 0 && anyParty === undefined) {
    throw refused('INVALID_ARGUMENT', 'filtersByParty and filtersForAnyParty cannot both be empty');
  }
  return { byParty: new Map(byParty), anyParty };
}
