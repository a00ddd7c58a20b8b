import type { Attributes } from '@opentelemetry/api';
import type { Recorder } from './Recorder.js';

/** Counts what does not decode. */
export const countUndecodable = ({ measure }: Recorder, attributes: Attributes): void => {
  measure(({ undecodable }, ledger) => {
    undecodable.add(1, { ...ledger, ...attributes });
  });
};
