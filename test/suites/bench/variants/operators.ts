import { ofVariant, onSynchronizer } from '../../../../src/index.js';
import { synchronizerId } from '../elements.js';
import type { Load, Outcome } from '../Load.js';
import { throughOperators } from '../throughOperators.js';

/** The library's operators. */
export const measure = (load: Load): Promise<Outcome> =>
  throughOperators(load, (source) => source.pipe(ofVariant('Transaction'), onSynchronizer(synchronizerId())));
