import { isInterfaceType } from '../codecs/ContractType.js';
import { acsDelta, EventFormat, type UpdateFormat } from '../codecs/UpdateFormat.js';
import type { Party } from '../codecs/scalars.js';
import { validateRequest } from '../http/exchange.js';
import type { ContractTypes } from './Contract.js';

/**
 * The contracts to read: those of the given types of which the given parties are stakeholders.
 *
 * @category Contracts
 */
export interface ContractQuery<M extends ContractTypes = ContractTypes> {
  /**
   * Templates and interfaces, by names of your choice. A contract that matches several types gets the first one.
   * Default: all contracts, with undecoded arguments.
   */
  readonly types?: M | undefined;
  /**
   * The parties, at least one. `'any'` selects every party of the participant and requires a token that may read as any
   * party.
   */
  readonly parties: readonly Party[] | 'any';
  /**
   * Whether created events include the blob for explicit disclosure, which is large.
   *
   * @defaultValue false
   */
  readonly includeCreatedEventBlob?: boolean | undefined;
  /**
   * Whether changes include the exercises of the contracts in `update.events`, even those that archive nothing. An
   * update that only exercises contracts is then a change, too. Snapshots have no exercises.
   *
   * @defaultValue false
   */
  readonly includeExercises?: boolean | undefined;
}

/**
 * What to do if a query cannot be served as requested.
 *
 * @category Contracts
 */
export interface ContractPolicies {
  /**
   * What to do if changes cannot continue without a gap because the ledger was pruned or replaced. `'reload'` reads all
   * contracts again and emits them as a `Reset`. `'fail'` ends with a `PrunedError` or a `LedgerResetError`.
   *
   * @defaultValue 'reload'
   */
  readonly onGap?: 'reload' | 'fail' | undefined;
  /**
   * What to do if the participant does not know the package, template or interface of a type. `'fail'` ends with an
   * `ApiError`. `'wait'` reads the contracts of the other types, checks from time to time, and emits a `Reset` once the
   * type is known.
   *
   * @defaultValue 'fail'
   */
  readonly onUnknownPackage?: 'fail' | 'wait' | undefined;
  /**
   * What to do with a contract whose payload cannot be decoded. `'emit'` emits an `UndecodedContract`. `'fail'` ends
   * with a `DecodeError`.
   *
   * @defaultValue 'emit'
   */
  readonly onUndecodable?: 'emit' | 'fail' | undefined;
}

/**
 * Returns the event format of a query, which the snapshot, transactions and reassignments share. Throws a TypeError if
 * there is no list of parties or a template is invalid, and an `InvalidRequestError` for an invalid party.
 */
export function eventFormatOf({ types = {}, parties, includeCreatedEventBlob = false }: ContractQuery): EventFormat {
  // JavaScript callers may pass a single party
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

/** Returns the format of the updates that change the contracts of an event format. */
export const updateFormatOf = (eventFormat: EventFormat, includeExercises = false): UpdateFormat => ({
  includeTransactions: {
    eventFormat,
    transactionShape: includeExercises ? 'TRANSACTION_SHAPE_LEDGER_EFFECTS' : 'TRANSACTION_SHAPE_ACS_DELTA',
  },
  includeReassignments: eventFormat,
});
