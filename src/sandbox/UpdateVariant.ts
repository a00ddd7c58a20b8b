/** The kinds of update that a ledger keeps; checkpoints are none of them, they are made per stream. */
export type UpdateVariant = 'Transaction' | 'Reassignment' | 'TopologyTransaction';
