import type { CumulativeFilter, Filters } from './Filters.js';
import type { Party, TemplateId } from './scalars.js';
import type { EventFormat, TransactionShape, UpdateFormat } from './UpdateFormat.js';

/** The update format of the given shape. */
function formatOf(transactionShape: TransactionShape, options: FormatOptions): UpdateFormat {
  const { parties, reassignments = true, topology = true } = options;
  // to the ledger, no party is every party where topology is asked for
  if (parties.length === 0) throw new TypeError("parties names nobody; 'any' is every party");
  const eventFormat = eventFormatOf(options);
  return {
    includeTransactions: { eventFormat, transactionShape },
    ...(reassignments && { includeReassignments: eventFormat }),
    ...(topology && {
      includeTopologyEvents: {
        includeParticipantAuthorizationEvents: { parties: parties === 'any' ? [] : [...parties] },
      },
    }),
  };
}

function eventFormatOf(options: FormatOptions): EventFormat {
  const { parties, verbose = false } = options;
  const filters = filtersOf(options);
  return parties === 'any'
    ? { filtersByParty: {}, filtersForAnyParty: filters, verbose }
    : { filtersByParty: Object.fromEntries(parties.map((party) => [party, filters])), verbose };
}

function filtersOf(options: FormatOptions): Filters {
  const { templates = [], interfaces = [], includeCreatedEventBlob = false, includeInterfaceView = true } = options;
  const byTemplate = templates.map((templateId): CumulativeFilter => ({
    identifierFilter: { TemplateFilter: { value: { templateId, includeCreatedEventBlob } } },
  }));
  const byInterface = interfaces.map((interfaceId): CumulativeFilter => ({
    identifierFilter: { InterfaceFilter: { value: { interfaceId, includeInterfaceView, includeCreatedEventBlob } } },
  }));
  const wildcard: CumulativeFilter = { identifierFilter: { WildcardFilter: { value: { includeCreatedEventBlob } } } };
  const cumulative = [...byTemplate, ...byInterface];
  return { cumulative: cumulative.length > 0 ? cumulative : [wildcard] };
}

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

/** What {@link acsDelta} and {@link ledgerEffects} take. */
export interface FormatOptions {
  /** Whose updates, of one party at least; `'any'` for every party of the participant, which the token's user must be allowed to read as. */
  readonly parties: readonly Party[] | 'any';
  /** Contracts of these templates, `#package-name:Module:Entity`. Default: of all, unless `interfaces` are given. */
  readonly templates?: readonly TemplateId[];
  /** Contracts that implement these interfaces, `#package-name:Module:Entity`, with their views. Default: none. */
  readonly interfaces?: readonly TemplateId[];
  /** Whether created events carry the blob for explicit disclosure. Default: false. */
  readonly includeCreatedEventBlob?: boolean;
  /** Whether created events carry the views of the `interfaces`. Default: true. */
  readonly includeInterfaceView?: boolean;
  /** Whether gRPC values carry labels and type ids; JSON does not change by it. Default: false. */
  readonly verbose?: boolean;
  /** Whether reassignments are asked for. Default: true. */
  readonly reassignments?: boolean;
  /** Whether changes of the parties' hosting are asked for. Default: true. */
  readonly topology?: boolean;
}
