import type { FormatOptions } from './FormatOptions.js';
import { formatOf } from './internal/formatOf.js';
import type { UpdateFormat } from './UpdateFormat.js';

/**
 * The format that asks for changes of active contracts: creations and archivals on which one of the parties is a
 * stakeholder, their reassignments and, of the parties, the hosting.
 *
 * @throws TypeError for an empty list of parties
 * @example
 * ```ts
 * import { acsDelta } from 'canton-rx';
 *
 * acsDelta({ parties: ['alice::1220ab'], templates: ['#my-pkg:Main:Asset'] });
 * acsDelta({ parties: 'any', topology: false });
 * ```
 */
export const acsDelta = (options: FormatOptions): UpdateFormat => formatOf('TRANSACTION_SHAPE_ACS_DELTA', options);
