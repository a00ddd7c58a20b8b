import { PreparedTransaction } from '@canton-network/core-ledger-proto';
import { hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hashV2 } from './hashV2.js';
import { alice, contract, createNode, exerciseNode, id, inputContract, nodeOf, transactionOf, v } from './messages.js';
import { pairArbitrary } from './values.js';
import { vectors } from './vectors.js';
import { effort } from '../helpers/effort.js';

describe("the hash of the vendor's library", () => {
  it.each(vectors)('equals the described hash and the hash of the ledger: $name', ({ prepared }) => {
    const { transaction, metadata } = PreparedTransaction.fromBinary(
      Buffer.from(prepared.preparedTransaction, 'base64'),
    );
    if (transaction === undefined || metadata === undefined) throw new Error('no transaction');
    expect(hashV2(transaction, metadata)).toBe(prepared.preparedTransactionHash);
  });

  it('equals the described hash for nodes and values of every kind', async () => {
    const input = { ...contract, argument: v.unit(), stakeholders: [] };
    await fc.assert(
      fc.asyncProperty(pairArbitrary, pairArbitrary, fc.boolean(), async (one, other, isOdd) => {
        const { transaction, metadata } = transactionOf(
          exerciseNode('0', one.value, {
            children: ['1', '2', '3'],
            choiceObservers: ['bob'],
            ...(isOdd ? { interfaceId: id('I', 'A.B.C') } : {}),
          }),
          createNode('1', other.value),
          nodeOf('2', { oneofKind: 'fetch', fetch: { ...input, actingParties: [alice] } }),
          nodeOf('3', { oneofKind: 'rollback', rollback: { children: [] } }),
        );
        const more = {
          ...metadata,
          inputContracts: [inputContract(input, 5n)],
          ...(isOdd ? { minLedgerEffectiveTime: 3n } : { maxLedgerEffectiveTime: 4n }),
        };
        expect(await hashPreparedTransaction({ transaction, metadata: more })).toBe(hashV2(transaction, more));
      }),
      { numRuns: effort(100, 300) },
    );
  });
});
