import { expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { EMPTY } from 'rxjs';
import type { LedgerReader } from '../../../src/index.js';
import type { ContractResult, ContractsResult, LedgerProviderProps } from '../../../src/react/index.js';

const messageOf = (result: ContractsResult | ContractResult): string => {
  if (result.status === 'error') return result.error.message;
  expectTypeOf(result.error).toEqualTypeOf<undefined>();
  return result.status;
};

it('a result of React hooks with the status error has its error, and no other has one', () => {
  const functions = { reload: () => undefined, after: () => EMPTY };
  const known = {
    connection: undefined,
    offset: undefined,
    staleSince: undefined,
    reset: undefined,
    contracts: [],
    ...functions,
  };
  expect(messageOf({ ...known, status: 'error', error: new Error('ended') })).toBe('ended');
  expect(messageOf({ ...known, status: 'live' })).toBe('live');
  // @ts-expect-error -- the error is missing
  const incomplete: ContractsResult = { ...known, status: 'error' };
  expect(incomplete.status).toBe('error');
});

it('a provider for React takes a ledger that only reads', () => {
  expectTypeOf<LedgerReader>().toExtend<LedgerProviderProps['ledger']>();
});
