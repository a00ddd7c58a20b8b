import type { Cursor } from '../decoding/Cursor.js';
import { readIdentifier } from '../decoding/readIdentifier.js';
import { undecodable } from '../decoding/undecodable.js';
import { refused } from '../errors/refused.js';
import type { SandboxProfile } from '../SandboxProfile.js';
import type { IdentifierFilter } from './IdentifierFilter.js';

const wildcard: IdentifierFilter = { kind: 'wildcard', id: '', blob: false, view: false };

/** A cumulative list of filters; an empty one lets everything through. */
export function readFilters(cursor: Cursor, profile: SandboxProfile): readonly IdentifierFilter[] {
  const filters = cursor
    .field('cumulative')
    .list()
    .flatMap((item) => readFilter(item.field('identifierFilter'), profile));
  return filters.length === 0 ? [wildcard] : filters;
}

function readFilter(cursor: Cursor, profile: SandboxProfile): readonly IdentifierFilter[] {
  if (cursor.value === undefined) return [];
  const [kind, content] = cursor.oneOf();
  if (kind === 'Empty') return [];
  const value = content.required('value');
  const blob = value.field('includeCreatedEventBlob').boolean();
  switch (kind) {
    case 'WildcardFilter':
      return [{ ...wildcard, blob }];
    case 'TemplateFilter':
      return [{ kind: 'template', id: readFilterId(value.required('templateId'), profile), blob, view: false }];
    case 'InterfaceFilter': {
      const view = value.field('includeInterfaceView').boolean();
      return [{ kind: 'interface', id: readFilterId(value.required('interfaceId'), profile), blob, view }];
    }
    default:
      throw undecodable(`Unknown variant ${kind} at '${cursor.at}'`);
  }
}

/** From 3.5 on, filters go by package name only. */
function readFilterId(cursor: Cursor, profile: SandboxProfile): string {
  const identifier = readIdentifier(cursor);
  if (profile === '3.4' || identifier.startsWith('#')) return identifier;
  const packageId = identifier.slice(0, identifier.indexOf(':'));
  const expected = 'but expected a package name.';
  throw refused('INVALID_FIELD', `Received an identifier with package ID ${packageId}, ${expected}`);
}
