import type { Attributes } from '@opentelemetry/api';
import type { Offset } from '../codecs/Offset.js';
import type { Follower } from './Follower.js';

/** How far feeds are behind that have the same attributes: that of them which is behind most. */
export interface Lag {
  /** The attributes, as text. */
  readonly key: string;
  readonly attributes: Attributes;
  /** Absent where the end of the ledger, or where they stand, is not known. */
  readonly offsets: number | undefined;
  /** By synchronizer. */
  readonly seconds: ReadonlyMap<string, number>;
}

/** How far feeds are behind the end of the ledger, and their record times behind the clock. */
export function lagsOf(followers: readonly Follower[], end: Offset | undefined, nowMs: number): readonly Lag[] {
  const lags = new Map<string, Lag>();
  for (const { attributes, cursor, recordTimes } of followers) {
    const key = JSON.stringify(attributes);
    const { offsets: most, seconds = new Map<string, number>() } = lags.get(key) ?? {};
    const merged = new Map(seconds);
    for (const [synchronizer, recordTime] of recordTimes) {
      const behind = Math.max(0, nowMs - Date.parse(recordTime)) / 1_000;
      merged.set(synchronizer, Math.max(behind, merged.get(synchronizer) ?? 0));
    }
    const behind = end === undefined || cursor === undefined ? undefined : Math.max(0, end - cursor);
    lags.set(key, {
      key,
      attributes,
      offsets: behind === undefined ? most : Math.max(behind, most ?? 0),
      seconds: merged,
    });
  }
  return [...lags.values()];
}
