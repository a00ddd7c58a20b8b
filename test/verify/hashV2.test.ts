import { type Create, PreparedTransaction } from '@canton-network/core-ledger-proto';
import { hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hashV2 } from './hashV2.js';
import { alice, contractId, createNode, exerciseNode, id, transactionOf, v } from './messages.js';
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
    const contract: Create = {
      ...{ lfVersion: '2.1', contractId, packageName: 'assets', templateId: id('Asset'), argument: v.unit() },
      ...{ signatories: [alice], stakeholders: [] },
    };
    await fc.assert(
      fc.asyncProperty(pairArbitrary, pairArbitrary, fc.boolean(), async (one, other, isOdd) => {
        const { transaction, metadata } = transactionOf(
          exerciseNode('0', one.value, {
            children: ['1', '2', '3'],
            choiceObservers: ['bob'],
            ...(isOdd ? { interfaceId: id('I', 'A.B.C') } : {}),
          }),
          createNode('1', other.value),
          {
            nodeId: '2',
            versionedNode: {
              oneofKind: 'v1',
              v1: { nodeType: { oneofKind: 'fetch', fetch: { ...contract, actingParties: [alice] } } },
            },
          },
          {
            nodeId: '3',
            versionedNode: { oneofKind: 'v1', v1: { nodeType: { oneofKind: 'rollback', rollback: { children: [] } } } },
          },
        );
        const more = {
          ...metadata,
          inputContracts: [
            { contract: { oneofKind: 'v1' as const, v1: contract }, createdAt: 5n, eventBlob: Buffer.from('x') },
          ],
          ...(isOdd ? { minLedgerEffectiveTime: 3n } : { maxLedgerEffectiveTime: 4n }),
        };
        expect(await hashPreparedTransaction({ transaction, metadata: more })).toBe(hashV2(transaction, more));
      }),
      { numRuns: effort(100, 300) },
    );
  });
});
