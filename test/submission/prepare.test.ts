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
});
