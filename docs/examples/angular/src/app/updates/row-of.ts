import type { Update } from 'canton-rx';
import { factsOf, type Facts } from './facts-of';
import { interned } from './interned';
import { shortId } from './names';
import type { Effect, Row } from './row';

type Work = Exclude<Update, { _tag: 'OffsetCheckpoint' }>;

export function rowOf(update: Work): Row {
  if (update._tag === 'UnknownUpdate') return unknownRow(update.offset, update.variant);
  const facts = update.events.map(factsOf);
  const effects = counted(facts);
  const templates = distinct(facts.flatMap(({ template }) => template ?? []));
  const parties = distinct(facts.flatMap((fact) => fact.parties));
  const commandId = 'commandId' in update ? (update.commandId ?? '') : '';
  const words = [update.offset, commandId, ...effects.map(({ label }) => label), ...templates, ...parties.map(shortId)];
  return {
    offset: update.offset,
    variant: update._tag,
    updateId: update.updateId,
    recordTime: update.recordTime,
    synchronizer: interned(update.synchronizerId ?? ''),
    effects,
    templates,
    packages: distinct(facts.flatMap(({ packageName }) => packageName ?? [])),
    parties,
    contractIds: distinct(
      facts.flatMap(({ contractId }) => contractId ?? []),
      String,
    ),
    text: words.join(' ').toLowerCase(),
  };
}

/** The row of a variant that this version of the library does not know. */
function unknownRow(offset: number, variant: string): Row {
  const effects: readonly Effect[] = [{ kind: 'other', label: variant, count: 1 }];
  const nothing = {
    updateId: '',
    recordTime: '',
    synchronizer: '',
    templates: [],
    packages: [],
    parties: [],
    contractIds: [],
  };
  return { ...nothing, offset, variant: 'UnknownUpdate', effects, text: `${offset} ${variant.toLowerCase()}` };
}

function counted(facts: readonly Facts[]): readonly Effect[] {
  const effects = new Map<string, Effect>();
  for (const { kind, label, template } of facts) {
    const key = `${kind} ${label} ${template ?? ''}`;
    effects.set(key, {
      kind,
      label: interned(label),
      count: (effects.get(key)?.count ?? 0) + 1,
      template: template === undefined ? undefined : interned(template),
    });
  }
  return [...effects.values()];
}

const distinct = (values: readonly string[], keep: (value: string) => string = interned): readonly string[] =>
  [...new Set(values)].map(keep);
