import { describe, expect, it } from '@jest/globals';
import { DeduplicationPeriod, ExecuteRequest } from '../../src/codecs/ExecuteRequest.js';
import { DisclosedContract, PrepareRequest } from '../../src/codecs/SubmissionRequest.js';
import { EventFormat, TransactionFormat, UpdateFormat } from '../../src/codecs/UpdateFormat.js';
import { Filters, TransactionFilter } from '../../src/codecs/Filters.js';
import { MinLedgerTime } from '../../src/codecs/MinLedgerTime.js';
import { UpdatesRequest } from '../../src/codecs/UpdatesRequest.js';
import { decode, keysOf, problemsIn, replaceAt, sample } from './support.js';

const updates = sample('requests', 'updates', 'pasted');
const execute = sample('requests', 'execute', 'pasted');
const prepare = sample('requests', 'prepare', 'pasted');
const filters = (identifierFilter: object): object => ({ cumulative: [{ identifierFilter }] });

describe('an absent scalar', () => {
  const flag = { includeCreatedEventBlob: false };
  const templateId = '#p:M:E';

  it.each([
    { name: 'filtersByParty and verbose', codec: EventFormat, wire: {}, sent: { filtersByParty: {}, verbose: false } },
    { name: 'filtersByParty of a filter', codec: TransactionFilter, wire: {}, sent: { filtersByParty: {} } },
    { name: 'cumulative', codec: Filters, wire: {}, sent: { cumulative: [] } },
    {
      name: 'includeCreatedEventBlob of a wildcard',
      codec: Filters,
      wire: filters({ WildcardFilter: { value: {} } }),
      sent: filters({ WildcardFilter: { value: flag } }),
    },
    {
      name: 'includeCreatedEventBlob of a template',
      codec: Filters,
      wire: filters({ TemplateFilter: { value: { templateId } } }),
      sent: filters({ TemplateFilter: { value: { templateId, ...flag } } }),
    },
    {
      name: 'includeInterfaceView',
      codec: Filters,
      wire: filters({ InterfaceFilter: { value: { interfaceId: templateId, includeCreatedEventBlob: null } } }),
      sent: filters({ InterfaceFilter: { value: { interfaceId: templateId, includeInterfaceView: false, ...flag } } }),
    },
    {
      name: 'parties',
      codec: UpdateFormat,
      wire: { includeTopologyEvents: { includeParticipantAuthorizationEvents: {} } },
      sent: { includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: [] } } },
    },
    {
      name: 'nanos of a deduplication period',
      codec: DeduplicationPeriod,
      wire: { DeduplicationDuration: { value: { seconds: 600 } } },
      sent: { DeduplicationDuration: { value: { seconds: 600, nanos: 0 } } },
    },
    {
      name: 'nanos of a ledger time',
      codec: MinLedgerTime,
      wire: { time: { MinLedgerTimeRel: { value: { seconds: 5, nanos: null, unknownFields: { fields: {} } } } } },
      sent: { time: { MinLedgerTimeRel: { value: { seconds: 5, nanos: 0 } } } },
    },
    {
      name: 'synchronizerId of a disclosed contract',
      codec: DisclosedContract,
      wire: { contractId: '00', createdEventBlob: 'AAAA', templateId: null },
      sent: { contractId: '00', createdEventBlob: 'AAAA', synchronizerId: '' },
    },
    {
      name: 'descendingOrder',
      codec: UpdatesRequest,
      wire: { beginExclusive: 0 },
      sent: { beginExclusive: 0, descendingOrder: false },
    },
    {
      name: 'verbose with filter',
      codec: UpdatesRequest,
      wire: { beginExclusive: 0, filter: {}, verbose: null },
      sent: { beginExclusive: 0, descendingOrder: false, filter: { filtersByParty: {} }, verbose: false },
    },
  ])('$name is sent', ({ codec, wire, sent }) => {
    expect(decode<unknown>(codec, wire)).toStrictEqual(sent);
  });

  it('userId and deduplicationPeriod of an execution are sent', () => {
    const without = replaceAt(replaceAt(execute, 'userId', undefined), 'deduplicationPeriod', undefined);
    const sent = { userId: '', deduplicationPeriod: { Empty: {} } };
    expect(decode(ExecuteRequest, without)).toMatchObject(sent);
    const withNulls = replaceAt(replaceAt(execute, 'userId', null), 'deduplicationPeriod', null);
    expect(decode(ExecuteRequest, withNulls)).toMatchObject(sent);
  });

  it('disabled and expectedSignatures of a preparation are sent', () => {
    const wire = replaceAt(prepare, 'estimateTrafficCost', { expectedSignatures: null });
    const estimateTrafficCost = { disabled: false, expectedSignatures: [] };
    expect(decode(PrepareRequest, wire)).toMatchObject({ estimateTrafficCost });
  });

  it('verbose is not sent with updateFormat', () => {
    expect(decode(UpdatesRequest, { beginExclusive: 0, updateFormat: {} })).toStrictEqual({
      beginExclusive: 0,
      descendingOrder: false,
      updateFormat: {},
    });
  });
});

describe('a null', () => {
  it('inside Daml values is kept', () => {
    const request = decode(PrepareRequest, sample('requests', 'prepare-minimal', 'pasted'));
    expect(PrepareRequest.encode(request)).toHaveProperty('commands.0.CreateCommand.createArguments.memo', null);
  });
});

describe('the limit of a prefetched key', () => {
  const path = 'prefetchContractKeys.0.limit';

  it('is sent', () => {
    const request = decode(PrepareRequest, replaceAt(prepare, path, 20));
    expect(PrepareRequest.encode(request)).toHaveProperty(path, 20);
  });

  it.each([0, -1, 1.5, '3', 2 ** 31])('is refused if it is %p', (limit) => {
    expect(problemsIn(PrepareRequest, replaceAt(prepare, path, limit))).toStrictEqual([
      `${path}: expected Limit, a whole number from 1 to 2^31 - 1`,
    ]);
  });
});

describe('a field that is required', () => {
  it.each(['preparedTransaction', 'partySignatures', 'hashingSchemeVersion'])('%s of an execution', (field) => {
    for (const value of [undefined, null])
      expect(problemsIn(ExecuteRequest, replaceAt(execute, field, value))).toStrictEqual([
        expect.stringMatching(new RegExp(`^${field}: expected `)),
      ]);
  });

  it.each([
    ['commandId', 'LedgerString, 1 to 255 of A-Z a-z 0-9 # : - _ / and space'],
    ['commands', 'at least one command'],
    ['actAs', 'at least one party'],
    ['commands.0.ExerciseCommand.choice', 'string'],
    ['commands.0.ExerciseCommand.choiceArgument', 'a JSON value'],
    ['commands.0.ExerciseCommand.templateId', 'TemplateId, #package-name:Module:Entity or package-id:Module:Entity'],
    ['commands.1.CreateAndExerciseCommand.createArguments', 'a JSON value'],
    ['commands.2.ExerciseByKeyCommand.contractKey', 'a JSON value'],
    ['prefetchContractKeys.0.contractKey', 'a JSON value'],
    ['disclosedContracts.0.createdEventBlob', 'string'],
  ])('%s of a preparation', (path, expected) => {
    expect(problemsIn(PrepareRequest, replaceAt(prepare, path, undefined))).toStrictEqual([
      `${path}: expected ${expected}`,
    ]);
  });

  it('createArguments of a creation', () => {
    const path = 'commands.0.CreateCommand.createArguments';
    const wire = replaceAt(sample('requests', 'prepare-minimal', 'pasted'), path, undefined);
    expect(problemsIn(PrepareRequest, wire)).toStrictEqual([`${path}: expected a JSON value`]);
  });

  it.each([
    ['eventFormat', 'EventFormat'],
    ['transactionShape', 'one of TRANSACTION_SHAPE_ACS_DELTA, TRANSACTION_SHAPE_LEDGER_EFFECTS'],
  ])('%s of a transaction format', (path, expected) => {
    const format = { eventFormat: {}, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' };
    expect(problemsIn(TransactionFormat, format)).toStrictEqual([]);
    expect(problemsIn(TransactionFormat, replaceAt(format, path, undefined))).toStrictEqual([
      `${path}: expected ${expected}`,
    ]);
  });

  it('a list of commands and one of acting parties are not empty', () => {
    expect(problemsIn(PrepareRequest, replaceAt(prepare, 'commands', []))).toStrictEqual([
      'commands: expected at least one command',
    ]);
    expect(problemsIn(PrepareRequest, replaceAt(prepare, 'actAs', []))).toStrictEqual([
      'actAs: expected at least one party',
    ]);
  });
});

describe('an unknown field', () => {
  const filter = 'updateFormat.includeTransactions.eventFormat.filtersByParty';
  const [alice = ''] = keysOf(sample('requests', 'updates', 'pasted', ...filter.split('.')));

  it.each([
    'beginInclusive',
    'updateFormat.includeTransaction',
    'updateFormat.includeTransactions.transaction_shape',
    'updateFormat.includeReassignments.filterByParty',
    'updateFormat.includeTopologyEvents.parties',
    'updateFormat.includeTopologyEvents.includeParticipantAuthorizationEvents.party',
    `${filter}.${alice}.cummulative`,
    `${filter}.${alice}.cumulative.0.verbose`,
    `${filter}.${alice}.cumulative.0.identifierFilter.TemplateFilter.value.templateID`,
    `${filter}.${alice}.cumulative.1.identifierFilter.InterfaceFilter.value.includeView`,
    `${filter}.${alice}.cumulative.2.identifierFilter.WildcardFilter.value.templateId`,
    `${filter}.${alice}.cumulative.3.identifierFilter.Empty.value`,
    'constructor',
    'toString',
  ])('%s of a request for updates is rejected', (path) => {
    expect(problemsIn(UpdatesRequest, replaceAt(updates, path, null))).toStrictEqual([
      `${path}: expected no such field`,
    ]);
  });

  it.each([
    'commandId',
    'partySignatures.party',
    'partySignatures.signatures.0.signature',
    'partySignatures.signatures.0.signatures.0.signedby',
    'deduplicationPeriod.DeduplicationDuration.value.minutes',
    'minLedgerTime.Time',
    'transactionFormat.verbose',
  ])('%s of an execution is rejected', (path) => {
    expect(problemsIn(ExecuteRequest, replaceAt(execute, path, 1))).toStrictEqual([`${path}: expected no such field`]);
  });

  it.each([
    'submissionId',
    'commands.0.ExerciseCommand.argument',
    'commands.1.CreateAndExerciseCommand.contractId',
    'commands.2.ExerciseByKeyCommand.key',
    'disclosedContracts.0.contractID',
    'prefetchContractKeys.0.key',
    'estimateTrafficCost.enabled',
  ])('%s of a preparation is rejected', (path) => {
    expect(problemsIn(PrepareRequest, replaceAt(prepare, path, 1))).toStrictEqual([`${path}: expected no such field`]);
  });

  it('is reported with the other problems', () => {
    expect(problemsIn(UpdatesRequest, { begin: 0, endInclusive: '1' })).toStrictEqual([
      'begin: expected no such field',
      'endInclusive: expected Offset, a whole number from 0 to 2^53 - 1',
      'beginExclusive: expected Offset, a whole number from 0 to 2^53 - 1',
    ]);
  });

  it('named __proto__ is rejected', () => {
    expect(problemsIn(UpdatesRequest, JSON.parse('{"beginExclusive":0,"__proto__":{"verbose":true}}'))).toStrictEqual([
      '__proto__: expected no such field',
    ]);
  });

  it('makes is() return false', () => {
    expect(UpdatesRequest.is({ beginExclusive: 0 })).toBe(true);
    expect(UpdatesRequest.is({ beginExclusive: 0, begin: 0 })).toBe(false);
  });
});

describe('a request of a class', () => {
  class Bounded {
    readonly beginExclusive = 1;
    readonly updateFormat = sample('requests', 'updates', 'pasted', 'updateFormat');
    readonly #end: number;
    constructor(end: number) {
      this.#end = end;
    }
    get endInclusive(): number {
      return this.#end;
    }
  }

  it('is decoded with its accessors', () => {
    const result = UpdatesRequest.decode(new Bounded(9));
    expect(result).toMatchObject({ _tag: 'Right', right: { beginExclusive: 1, endInclusive: 9 } });
  });

  it('is rejected for an invalid value of an accessor', () => {
    expect(problemsIn(UpdatesRequest, new Bounded(0.5))).toStrictEqual([
      'endInclusive: expected Offset, a whole number from 0 to 2^53 - 1',
    ]);
  });
});
