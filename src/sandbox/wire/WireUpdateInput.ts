import type { WireEventInput } from './WireEventInput.js';
import type { WireReassignment } from './WireReassignment.js';
import type { WireReassignmentEventInput } from './WireReassignmentEventInput.js';
import type { WireTopologyTransaction } from './WireTopologyTransaction.js';
import type { WireTransaction } from './WireTransaction.js';

/** An update to append; what is left out is filled in. Offsets must be beyond the ledger end. */
export type WireUpdateInput =
  | {
      /** Contracts made and ended. */
      readonly Transaction: {
        /** The update. */
        readonly value: Partial<Omit<WireTransaction, 'events'>> & {
          /** What happened; default nothing. */
          readonly events?: readonly WireEventInput[];
        };
      };
    }
  | {
      /** Contracts moved. */
      readonly Reassignment: {
        /** The update. */
        readonly value: Partial<Omit<WireReassignment, 'events'>> & {
          /** What moved; default nothing. */
          readonly events?: readonly WireReassignmentEventInput[];
        };
      };
    }
  | {
      /** Topology changed. */
      readonly TopologyTransaction: {
        /** The update. */
        readonly value: Partial<WireTopologyTransaction>;
      };
    };
