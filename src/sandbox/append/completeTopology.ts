import type { WireTopologyTransaction } from '../wire/WireTopologyTransaction.js';
import { completeHeader } from './completeHeader.js';
import type { Fallbacks } from './Fallbacks.js';

/** Fills in what a topology transaction made by hand leaves out. */
export function completeTopology(
  input: Partial<WireTopologyTransaction>,
  fallbacks: Fallbacks,
): WireTopologyTransaction {
  return { events: [], traceContext: null, ...input, ...completeHeader(input, fallbacks) };
}
