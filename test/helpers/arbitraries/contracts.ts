import fc from 'fast-check';
import type {
  ActiveContract,
  ActiveContractsPage,
  ContractElement,
  ContractEntry,
  IncompleteAssigned,
  IncompleteUnassigned,
} from '../../../src/codecs/ContractEntry.js';
import { assignmentEventArbitrary, createdEventArbitrary, unassignedEventArbitrary } from './answers.js';
import { jsonArbitrary, messageOf } from './messages.js';
import * as scalar from './scalars.js';

export const contractEntryArbitrary: fc.Arbitrary<ContractEntry> = fc.oneof(
  messageOf<ActiveContract>(
    {
      _tag: fc.constant('ActiveContract'),
      createdEvent: createdEventArbitrary,
      synchronizerId: scalar.synchronizerIdArbitrary,
      reassignmentCounter: scalar.int64Arbitrary,
    },
    {},
  ),
  messageOf<IncompleteUnassigned>(
    {
      _tag: fc.constant('IncompleteUnassigned'),
      createdEvent: createdEventArbitrary,
      unassignedEvent: unassignedEventArbitrary,
    },
    {},
  ),
  messageOf<IncompleteAssigned>(
    { _tag: fc.constant('IncompleteAssigned'), assignedEvent: assignmentEventArbitrary },
    {},
  ),
  fc.record({
    _tag: fc.constant('UnknownContractEntry' as const),
    variant: fc.constant('JsEmpty'),
    value: jsonArbitrary,
  }),
);

export const contractElementArbitrary = messageOf<ContractElement>(
  { contractEntry: contractEntryArbitrary },
  { workflowId: fc.string(), streamContinuationToken: fc.oneof(fc.constant(''), scalar.base64Arbitrary) },
);

export const activeContractsPageArbitrary = messageOf<ActiveContractsPage>(
  {
    activeContracts: fc.array(contractElementArbitrary, { maxLength: 3 }),
    activeAtOffset: scalar.offsetArbitrary,
  },
  { nextPageToken: scalar.base64Arbitrary },
);
