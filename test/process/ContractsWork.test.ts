import { expect, it } from '@jest/globals';
import type { AnyContract } from '../../src/contracts/Contract.js';
import { digestOf } from '../../src/process/ContractsWork.js';

const contract = (contractId: string, reassignmentCounter: number): AnyContract =>
  ({ contractId, reassignmentCounter }) as AnyContract;

it('has a digest of the contracts that depends on each contract and its reassignments, and not on their order', () => {
  const [a, b] = [contract('00a', 0), contract('00b', 1)];
  expect(digestOf([b, a])).toBe(digestOf([a, b]));
  const others = [[a], [a, a], [a, contract('00b', 0)], [a, contract('00b', 2)], [a, contract('00c', 1)]];
  for (const other of others) expect(digestOf(other)).not.toBe(digestOf([a, b]));
});
