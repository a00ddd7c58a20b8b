import type { Attributes } from '@opentelemetry/api';
import type { Update } from '../codecs/Update.js';
import type { InvalidUpdate } from '../feed/InvalidUpdate.js';
import { synchronizersOf } from '../operators/internal/synchronizersOf.js';
import type { Recorder } from './Recorder.js';

/** Counts updates, and tells the meter now and then: for each by itself that would take as long as reading it. */
export interface Tally {
  readonly count: (update: Update | InvalidUpdate) => void;
  readonly tell: () => void;
}

/** A tally by variant and synchronizer. */
export function tallyOf({ measure, synchronizer: bounded }: Recorder, attributes: Attributes): Tally {
  const counts = new Map<string, { readonly by: Attributes; count: number }>();
  return {
    count: (update) => {
      const told = synchronizerOf(update);
      const synchronizer = told && bounded(told);
      const key = `${update._tag} ${synchronizer ?? ''}`;
      const entry = counts.get(key);
      if (entry !== undefined) entry.count += 1;
      else counts.set(key, { by: byOf(update._tag, synchronizer), count: 1 });
    },
    tell: () => {
      measure(({ updates }, ledger) => {
        for (const { by, count } of counts.values()) updates.add(count, { ...ledger, ...attributes, ...by });
      });
      counts.clear();
    },
  };
}

const byOf = (variant: string, synchronizer: string | undefined): Attributes => ({
  'canton.update.variant': variant,
  ...(synchronizer !== undefined && { 'canton.synchronizer.id': synchronizer }),
});

/** Of a checkpoint, which is of all, none; nor of what this version does not know. */
const synchronizerOf = (update: Update | InvalidUpdate): string | undefined =>
  update._tag === 'Transaction' || update._tag === 'Reassignment' || update._tag === 'TopologyTransaction'
    ? synchronizersOf(update)[0]
    : undefined;
