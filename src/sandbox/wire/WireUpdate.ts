import type { WireEvent, WireEventInput, WireTraceContext } from './WireEvent.js';
import type { WireReassignment, WireReassignmentEventInput } from './WireReassignment.js';

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

/** A transaction as it is kept: all events of both shapes, all fields. */
export interface WireTransaction {
  /** Unique over the network. */
  readonly updateId: string;
  /** The command behind it; served to those who submitted it. */
  readonly commandId: string;
  /** The workflow, `''` without one. */
  readonly workflowId: string;
  /** The ledger time. */
  readonly effectiveAt: string;
  /** Ascending by node id. */
  readonly events: readonly WireEvent[];
  /** Where it is on this ledger. */
  readonly offset: number;
  /** Where it was sequenced. */
  readonly synchronizerId: string;
  /** The trace of the submission. */
  readonly traceContext: WireTraceContext | null;
  /** When it was sequenced. */
  readonly recordTime: string;
  /** What the external party signed, in hex. */
  readonly externalTransactionHash: string | null;
  /** What it cost; served to those who submitted it. */
  readonly paidTrafficCost: number | null;
  /** The hash of the transaction in hex; served from 3.6 on. */
  readonly transactionHash: string | null;
}

/** A signature as `partySignatures` of an execute request takes it. */
export interface WireSignature {
  /** r and s after another. */
  readonly format: 'SIGNATURE_FORMAT_CONCAT';
  /** The signature in base64. */
  readonly signature: string;
  /** The fingerprint of the key. */
  readonly signedBy: string;
  /** Always Ed25519 here. */
  readonly signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519';
}

/** The error body of the JSON Ledger API; all ten keys are always there. */
export interface WireCantonError {
  /** The error id, `'NA'` if redacted. */
  readonly code: string;
  /** What happened. */
  readonly cause: string;
  /** Ties it to the server's log. */
  readonly correlationId: string | null;
  /** The trace of the request. */
  readonly traceId: string | null;
  /** Further facts, all as text. */
  readonly context: Readonly<Record<string, string>>;
  /** What it is about, as pairs of type and id. */
  readonly resources: readonly (readonly [string, string])[];
  /** 1 to 14, -1 if redacted. */
  readonly errorCategory: number;
  /** The gRPC status code. */
  readonly grpcCodeValue: number | null;
  /** The retry hint of the category. */
  readonly retryInfo: string | null;
  /** Set by the JSON layer only. */
  readonly definiteAnswer: boolean | null;
}

/** A change of topology. */
export interface WireTopologyTransaction {
  /** Unique over the network. */
  readonly updateId: string;
  /** What changed. */
  readonly events: readonly WireTopologyEvent[];
  /** Where it is on this ledger. */
  readonly offset: number;
  /** Where it was sequenced. */
  readonly synchronizerId: string;
  /** The trace of the change. */
  readonly traceContext: WireTraceContext | null;
  /** When it was sequenced. */
  readonly recordTime: string;
}

/** A change of what a participant may do for a party. */
export interface WireTopologyEvent {
  /** The one-of. */
  readonly event:
    | {
        /** A new authorisation. */
        readonly ParticipantAuthorizationAdded: {
          /** The event. */
          readonly value: WireAuthorization;
        };
      }
    | {
        /** Another permission than before. */
        readonly ParticipantAuthorizationChanged: {
          /** The event. */
          readonly value: WireAuthorization;
        };
      }
    | {
        /** An authorisation that waits for the party's contracts; from 3.5 on. */
        readonly ParticipantAuthorizationOnboarding: {
          /** The event. */
          readonly value: WireAuthorization;
        };
      }
    | {
        /** The end of an authorisation. */
        readonly ParticipantAuthorizationRevoked: {
          /** The event. */
          readonly value: WireRevocation;
        };
      };
}

/** What a participant may do for a party from now on. */
export interface WireAuthorization {
  /** The party. */
  readonly partyId: string;
  /** The participant. */
  readonly participantId: string;
  /** The permission, such as `PARTICIPANT_PERMISSION_SUBMISSION`. */
  readonly participantPermission: string;
}

/** A participant that does nothing for a party from now on. */
export interface WireRevocation {
  /** The party. */
  readonly partyId: string;
  /** The participant. */
  readonly participantId: string;
}
