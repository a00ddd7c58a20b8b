import type { Attributes } from '@opentelemetry/api';
import { countUndecodable } from './countUndecodable.js';
import { isUndecodable } from './isUndecodable.js';
import type { Recorder } from './Recorder.js';

/** Counts a feed or a processor that has ended with an error. */
export function countFailure(recorder: Recorder, attributes: Attributes, error: unknown): void {
  const { measure, errorType } = recorder;
  measure(({ feedFailures }, ledger) => {
    feedFailures.add(1, { ...ledger, ...attributes, 'error.type': errorType(error) });
  });
  if (isUndecodable(error)) countUndecodable(recorder, attributes);
}
