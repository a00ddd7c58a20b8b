import type { FormatOptions } from './FormatOptions.js';
import { formatOf } from './internal/formatOf.js';
import type { UpdateFormat } from './UpdateFormat.js';

/**
 * The format that asks for all effects: creations and exercises that one of the parties is informed of, their
 * reassignments and, of the parties, the hosting.
 *
 * @throws TypeError for an empty list of parties
 * @example
 * ```ts
 * import { ledgerEffects } from 'canton-rx';
 *
 * ledgerEffects({ parties: ['alice::1220ab'], interfaces: ['#my-api:Api:Holding'] });
 * ```
 */
export const ledgerEffects = (options: FormatOptions): UpdateFormat =>
  formatOf('TRANSACTION_SHAPE_LEDGER_EFFECTS', options);
