import type { WireReassignment } from './WireReassignment.js';
import type { WireTopologyTransaction } from './WireTopologyTransaction.js';
import type { WireTransaction } from './WireTransaction.js';

/** An update in wire form: the one-of with its single key, without the `update` envelope. */
export type WireUpdate =
  | {
      /** Contracts made and ended. */
      readonly Transaction: {
        /** The update. */
        readonly value: WireTransaction;
      };
    }
  | {
      /** Contracts moved. */
      readonly Reassignment: {
        /** The update. */
        readonly value: WireReassignment;
      };
    }
  | {
      /** Topology changed. */
      readonly TopologyTransaction: {
        /** The update. */
        readonly value: WireTopologyTransaction;
      };
    };
