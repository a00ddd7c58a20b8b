import type { EventFormat } from '../formats/EventFormat.js';
import type { IdentifierFilter } from '../formats/IdentifierFilter.js';
import type { Packages } from '../ledger/Packages.js';
import type { EventMatch } from './EventMatch.js';

/** What decides whether an event is served. */
interface Subject {
  readonly templateId: string;
  readonly packageName: string;
  /** Those who may see it. */
  readonly parties: readonly string[];
  /** The interfaces of the template, by package id. */
  readonly interfaces: readonly string[];
}

/** Holds an event against a format; the filters of all its parties count together. */
export function matchEvent(subject: Subject, format: EventFormat, packages: Packages): EventMatch | undefined {
  const asked = subject.parties.flatMap((party) => format.byParty.get(party) ?? []).concat(format.anyParty ?? []);
  const matching = asked.filter((filter) => concerns(filter, subject, packages));
  if (matching.length === 0) return undefined;
  const { parties, interfaces } = subject;
  const viewed = matching.filter(({ view }) => view);
  return {
    witnessParties: format.anyParty === undefined ? parties.filter((party) => format.byParty.has(party)) : parties,
    argument: matching.some(({ kind }) => kind !== 'interface'),
    blob: matching.some(({ blob }) => blob),
    views: new Set(interfaces.filter((actual) => viewed.some(({ id }) => packages.matches(id, actual)))),
  };
}

function concerns({ kind, id }: IdentifierFilter, subject: Subject, packages: Packages): boolean {
  const { templateId, packageName, interfaces } = subject;
  if (kind === 'wildcard') return true;
  if (kind === 'template')
    return id === templateId || id === `#${packageName}${templateId.slice(templateId.indexOf(':'))}`;
  return interfaces.some((actual) => packages.matches(id, actual));
}
