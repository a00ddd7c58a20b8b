import type { EventFormat } from '../EventFormat.js';
import type { CumulativeFilter, Filters } from '../Filters.js';
import type { FormatOptions } from '../FormatOptions.js';
import type { TransactionShape } from '../TransactionShape.js';
import type { UpdateFormat } from '../UpdateFormat.js';

/** The update format of the given shape. */
export function formatOf(transactionShape: TransactionShape, options: FormatOptions): UpdateFormat {
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
