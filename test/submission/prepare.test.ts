import { describe, expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { createLedger, type PrepareRequest } from '../../src/index.js';
import { observe } from '../helpers/observe.js';
import { scriptedService } from '../helpers/scripted.js';
import { ok } from '../helpers/wire.js';

const prepared = {
  preparedTransaction: 'CgA=',
  preparedTransactionHash: '3q2+7w==',
  hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V7',
  hashingDetails: null,
  costEstimation: null,
};
const request: PrepareRequest = {
  commandId: 'c-1',
  actAs: ['alice::1220ab'],
  commands: [{ CreateCommand: { templateId: '#assets:Main:Asset', createArguments: {} } }],
};

const templateId = '#assets:Main:Asset';
const creating = (createArguments: unknown): PrepareRequest => ({
  ...request,
  commands: [{ CreateCommand: { templateId, createArguments } }],
});
const exercising = (fields: object): PrepareRequest => ({
  ...request,
  commands: [{ ExerciseCommand: { templateId, contractId: '00ab', choice: 'Give', choiceArgument: {}, ...fields } }],
});

describe('estimateCost', () => {
  const estimate = {
    estimationTimestamp: '2026-01-31T12:00:00Z',
    confirmationRequestTrafficCostEstimation: 1_200,
    confirmationResponseTrafficCostEstimation: 300,
    totalTrafficCostEstimation: 1_500,
  };

  it('emits the estimate of the preparation, and submits nothing', async () => {
    const service = scriptedService(() => [ok({ ...prepared, costEstimation: estimate })]);
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
    expect(await lastValueFrom(ledger.estimateCost(request))).toEqual(estimate);
    expect(service.requests.map(({ path }) => path)).toEqual(['/v2/interactive-submission/prepare']);
  });

  it('completes without a value if the participant does not estimate', () => {
    const service = scriptedService(() => [ok(prepared)]);
    const seen = observe(createLedger({ baseUrl: 'http://ledger.example', port: service.port }).estimateCost(request));
    expect(seen).toMatchObject({ values: [], completed: true });
  });
});

describe('prepare', () => {
  it('sends every field that the participant requires, and emits newer hashing schemes unchanged', async () => {
    const service = scriptedService(() => [ok(prepared)]);
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
    const submission$ = ledger.prepare(request);
    expect(service.requests).toEqual([]);
    expect(await lastValueFrom(submission$)).toEqual({
      preparedTransaction: 'CgA=',
      preparedTransactionHash: '3q2+7w==',
      hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V7',
    });
    expect(service.requests).toMatchObject([{ method: 'POST', path: '/v2/interactive-submission/prepare' }]);
    expect(service.requests[0]?.body).toEqual({
      ...request,
      readAs: [],
      userId: '',
      disclosedContracts: [],
      synchronizerId: '',
      packageIdSelectionPreference: [],
      verboseHashing: false,
      prefetchContractKeys: [],
    });
  });

  it.each([
    ['commands', { ...request, commands: [] }],
    ['actAs', { ...request, actAs: [] }],
    ['commandId', { ...request, commandId: '' }],
    ['maxRecordTime', { ...request, maxRecordTime: 'tomorrow' }],
  ])('refuses an invalid request before anything is sent: %s', (field, invalid) => {
    const service = scriptedService(() => [ok(prepared)]);
    const seen = observe(createLedger({ baseUrl: 'http://ledger.example', port: service.port }).prepare(invalid));
    expect(seen.error).toMatchObject({ _tag: 'InvalidRequestError', problems: [{ path: field }] });
    expect(service.requests).toEqual([]);
  });

  const half = '\ud83d';
  it.each<[string, PrepareRequest]>([
    ['commands.0.CreateCommand.createArguments.note', creating({ note: `a${half}` })],
    ['commands.0.CreateCommand.createArguments.note', creating({ note: 'a\0b' })],
    ['commands.0.CreateCommand.createArguments.lines.1.text', creating({ lines: [{ text: 'a' }, { text: half }] })],
    ['commands.0.CreateCommand.createArguments.names.*', creating({ names: { [half]: 'a' } })],
    ['commands.0.CreateCommand.createArguments.pairs.0.0', creating({ pairs: [[`\\\\${half}`, 'a']] })],
    ['commands.0.CreateCommand.createArguments.tail', creating({ tail: '\udc00\ud83d' })],
    ['commands.0.ExerciseCommand.choice', exercising({ choice: `Give${half}` })],
    ['commands.0.ExerciseCommand.contractId', exercising({ contractId: '00\0' })],
    ['packageIdSelectionPreference.0', { ...request, packageIdSelectionPreference: [half] }],
    ['synchronizerId', { ...request, synchronizerId: `a${half}` }],
  ])('refuses a text that the ledger would change or refuse, before anything is sent: %s', (path, invalid) => {
    const service = scriptedService(() => [ok(prepared)]);
    const seen = observe(createLedger({ baseUrl: 'http://ledger.example', port: service.port }).prepare(invalid));
    const expected = 'a text without NUL and without half of a surrogate pair';
    expect(seen.error).toMatchObject({ _tag: 'InvalidRequestError', problems: [{ path, expected }] });
    expect(service.requests).toEqual([]);
  });

  it.each(['🔑', '\\ud83d', '\\u0000', 'ä\u2028\u007f', '\ud83d\ude00\ud83d\ude00', '\\\\ud83d'])(
    'sends every other text as it is: %j',
    async (note) => {
      const service = scriptedService(() => [ok(prepared)]);
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      await lastValueFrom(ledger.prepare(creating({ note, [note]: note })));
      expect(service.requests[0]?.body).toMatchObject({
        commands: [{ CreateCommand: { createArguments: { note, [note]: note } } }],
      });
    },
  );
});
