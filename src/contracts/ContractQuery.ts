import { isInterfaceType } from '../codecs/ContractType.js';
import { acsDelta } from '../codecs/formats.js';
import type { Party } from '../codecs/scalars.js';
import { EventFormat, type UpdateFormat } from '../codecs/UpdateFormat.js';
import { validateRequest } from '../http/exchange.js';
import type { ContractTypes } from './Contract.js';

/**
 * The contracts to read: those of some types that some parties see as stakeholders.
 *
 * @category Contracts
 */
export interface ContractQuery<M extends ContractTypes = ContractTypes> {
  /**
   * Templates and interfaces, by names of your choice. A contract that matches several has the first of them. Default: all
   * contracts, with their arguments undecoded.
   */
  readonly types?: M | undefined;
  /** The parties, at least one; `'any'` for every party of the participant, which requires a token that may read as any party. */
  readonly parties: readonly Party[] | 'any';
  /**
   * Whether created events carry the blob for explicit disclosure, which is large.
   *
   * @defaultValue false
   */
  readonly includeCreatedEventBlob?: boolean | undefined;
  /**
   * Whether changes have the exercises of the contracts, also those that archive nothing, in `update.events`. An update that
   * only exercises contracts is then a change, too. Snapshots have no exercises.
   *
   * @defaultValue false
   */
  readonly includeExercises?: boolean | undefined;
}

/**
 * What to do where a query cannot be served as it is.
 *
 * @category Contracts
 */
export interface ContractPolicies {
  /**
   * What to do if changes cannot continue without a gap, because the ledger was pruned or reset: `'reload'` reads all
   * contracts again, and emits them as a `Reset`; `'fail'` ends with a `PrunedError` or a `LedgerResetError`.
   *
   * @defaultValue 'reload'
   */
  readonly onGap?: 'reload' | 'fail' | undefined;
  /**
   * What to do if the participant does not know the package, the template or the interface of a type: `'fail'` ends with an
   * `ApiError`; `'wait'` reads the contracts of the other types, asks again from time to time, and emits a `Reset` when the
   * type is known.
   *
   * @defaultValue 'fail'
   */
  readonly onUnknownPackage?: 'fail' | 'wait' | undefined;
  /**
   * What to do with a contract whose payload does not decode: `'keep'` emits an `UndecodedContract`; `'fail'` ends with a
   * `DecodeError`.
   *
   * @defaultValue 'keep'
   */
  readonly onUndecodable?: 'keep' | 'fail' | undefined;
}

/**
 * The events of a query: the same format for the snapshot, for transactions and for reassignments. Throws a TypeError
 * without a list of parties, and an `InvalidRequestError` for an invalid party or template.
 */
export function eventFormatOf({ types = {}, parties, includeCreatedEventBlob = false }: ContractQuery): EventFormat {
  // JavaScript may pass a single party
  if (parties !== 'any' && !Array.isArray(parties)) throw new TypeError("parties must be a list, or 'any'");
  const all = Object.values(types);
  const { includeReassignments } = acsDelta({
    parties,
    templates: all.filter((type) => !isInterfaceType(type)).map(({ templateId }) => templateId),
    interfaces: all.filter(isInterfaceType).map(({ templateId }) => templateId),
    includeCreatedEventBlob,
    topology: false,
  });
  return validateRequest(EventFormat, includeReassignments);
}

/** The updates that change the contracts of a format. */
export const updateFormatOf = (eventFormat: EventFormat, includeExercises = false): UpdateFormat => ({
  includeTransactions: {
    eventFormat,
    transactionShape: includeExercises ? 'TRANSACTION_SHAPE_LEDGER_EFFECTS' : 'TRANSACTION_SHAPE_ACS_DELTA',
  },
  includeReassignments: eventFormat,
});
