import type { WireEvent, WireEventInput, WireTraceContext } from './WireEvent.js';
import type { WireReassignment, WireReassignmentEventInput } from './WireReassignment.js';

/**
 * An update in wire format: an object with a single key, without the `update` envelope.
 *
 * @category Sandbox
 */
export type WireUpdate =
  | {
      /** A transaction. */
      readonly Transaction: {
        /** The update. */
        readonly value: WireTransaction;
      };
    }
  | {
      /** A reassignment. */
      readonly Reassignment: {
        /** The update. */
        readonly value: WireReassignment;
      };
    }
  | {
      /** A topology transaction. */
      readonly TopologyTransaction: {
        /** The update. */
        readonly value: WireTopologyTransaction;
      };
    };

/**
 * An update to append. Absent fields get default values. The offset must be greater than the ledger end.
 *
 * @category Sandbox
 */
export type WireUpdateInput =
  | {
      /** A transaction. */
      readonly Transaction: {
        /** The update. */
        readonly value: Partial<Omit<WireTransaction, 'events'>> & {
          /**
           * The events.
           *
           * @defaultValue []
           */
          readonly events?: readonly WireEventInput[];
        };
      };
    }
  | {
      /** A reassignment. */
      readonly Reassignment: {
        /** The update. */
        readonly value: Partial<Omit<WireReassignment, 'events'>> & {
          /**
           * The events.
           *
           * @defaultValue []
           */
          readonly events?: readonly WireReassignmentEventInput[];
        };
      };
    }
  | {
      /** A topology transaction. */
      readonly TopologyTransaction: {
        /** The update. */
        readonly value: Partial<WireTopologyTransaction>;
      };
    };

/**
 * A transaction as the ledger stores it: with all fields, and with the events of both shapes.
 *
 * @category Sandbox
 */
export interface WireTransaction {
  /** The update id, unique on the network. */
  readonly updateId: string;
  /** The command id. Only responses to its submitters contain it. */
  readonly commandId: string;
  /** The workflow id, or `''`. */
  readonly workflowId: string;
  /** The ledger time. */
  readonly effectiveAt: string;
  /** The events, in ascending order of their node ids. */
  readonly events: readonly WireEvent[];
  /** The offset on this ledger. */
  readonly offset: number;
  /** The synchronizer that sequenced the update. */
  readonly synchronizerId: string;
  /** The trace context of the submission. */
  readonly traceContext: WireTraceContext | null;
  /** The time of sequencing. */
  readonly recordTime: string;
  /** The hash that the external party signed, in hex. */
  readonly externalTransactionHash: string | null;
  /** The traffic cost, in bytes. Only responses to its submitters contain it. */
  readonly paidTrafficCost: number | null;
  /** The hash of the transaction, in hex. Responses contain it since 3.6. */
  readonly transactionHash: string | null;
}

/**
 * A signature for the `partySignatures` of an execute request.
 *
 * @category Sandbox
 */
export interface WireSignature {
  /** The concatenation of r and s. */
  readonly format: 'SIGNATURE_FORMAT_CONCAT';
  /** The signature in base64. */
  readonly signature: string;
  /** The fingerprint of the key. */
  readonly signedBy: string;
  /** Always Ed25519. */
  readonly signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519';
}

/**
 * The error body of the JSON Ledger API. All ten keys are always present.
 *
 * @category Sandbox
 */
export interface WireCantonError {
  /** The error code; `'NA'` if redacted. */
  readonly code: string;
  /** The description of the error. */
  readonly cause: string;
  /** The id of the error in the server's log. */
  readonly correlationId: string | null;
  /** The trace id of the request. */
  readonly traceId: string | null;
  /** Additional details, as strings. */
  readonly context: Readonly<Record<string, string>>;
  /** The resources concerned, as pairs of type and id. */
  readonly resources: readonly (readonly [string, string])[];
  /** The error category, 1 to 14; -1 if redacted. */
  readonly errorCategory: number;
  /** The gRPC status code. */
  readonly grpcCodeValue: number | null;
  /** The retry delay of the category. */
  readonly retryInfo: string | null;
  /** Whether the request has definitely failed. Only errors of the JSON layer set it. */
  readonly definiteAnswer: boolean | null;
}

/**
 * A transaction that changes the topology.
 *
 * @category Sandbox
 */
export interface WireTopologyTransaction {
  /** The update id, unique on the network. */
  readonly updateId: string;
  /** The events. */
  readonly events: readonly WireTopologyEvent[];
  /** The offset on this ledger. */
  readonly offset: number;
  /** The synchronizer that sequenced the update. */
  readonly synchronizerId: string;
  /** The trace context of the change. */
  readonly traceContext: WireTraceContext | null;
  /** The time of sequencing. */
  readonly recordTime: string;
}

/**
 * A change to the authorization of a participant for a party.
 *
 * @category Sandbox
 */
export interface WireTopologyEvent {
  /** The event, as one of its kinds. */
  readonly event:
    | {
        /** A new authorization. */
        readonly ParticipantAuthorizationAdded: {
          /** The event. */
          readonly value: WireAuthorization;
        };
      }
    | {
        /** A changed permission. */
        readonly ParticipantAuthorizationChanged: {
          /** The event. */
          readonly value: WireAuthorization;
        };
      }
    | {
        /** An authorization that waits for the party's contracts. Since 3.5. */
        readonly ParticipantAuthorizationOnboarding: {
          /** The event. */
          readonly value: WireAuthorization;
        };
      }
    | {
        /** The end of an authorization. */
        readonly ParticipantAuthorizationRevoked: {
          /** The event. */
          readonly value: WireRevocation;
        };
      };
}

/**
 * The permission of a participant for a party.
 *
 * @category Sandbox
 */
export interface WireAuthorization {
  /** The party. */
  readonly partyId: string;
  /** The participant. */
  readonly participantId: string;
  /** The permission, such as `PARTICIPANT_PERMISSION_SUBMISSION`. */
  readonly participantPermission: string;
}

/**
 * The end of the permission of a participant for a party.
 *
 * @category Sandbox
 */
export interface WireRevocation {
  /** The party. */
  readonly partyId: string;
  /** The participant. */
  readonly participantId: string;
}
