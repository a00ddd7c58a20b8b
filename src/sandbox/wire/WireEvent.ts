/**
 * An event of a transaction. A consuming exercise is stored next to its archive, with the same node id.
 *
 * @category Sandbox
 */
export type WireEvent =
  | {
      /** A contract was created. */
      readonly CreatedEvent: WireCreatedEvent;
    }
  | {
      /** A contract was archived. */
      readonly ArchivedEvent: WireArchivedEvent;
    }
  | {
      /** A choice was exercised. */
      readonly ExercisedEvent: WireExercisedEvent;
    };

/**
 * An event to append. Absent fields get default values, taken from the contract if the sandbox knows it.
 *
 * @category Sandbox
 */
export type WireEventInput =
  | {
      /** A contract was created. */
      readonly CreatedEvent: Partial<WireCreatedEvent>;
    }
  | {
      /** A contract was archived. The sandbox adds the consuming exercise. */
      readonly ArchivedEvent: Partial<WireArchivedEvent>;
    }
  | {
      /** A choice was exercised. If it is consuming, the sandbox adds the archive. */
      readonly ExercisedEvent: Partial<WireExercisedEvent>;
    };

/** The fields of an exercise that cannot be derived from its contract. */
export interface Choice {
  readonly offset: number;
  readonly nodeId: number;
  readonly choice: string;
  readonly choiceArgument: unknown;
  readonly exerciseResult: unknown;
  readonly actingParties: readonly string[];
  readonly lastDescendantNodeId?: number;
}

/** The fields of a created event from which the others are derived. */
export interface CreatedFields {
  readonly offset: number;
  readonly nodeId: number;
  readonly contractId: string;
  readonly template: TemplateRef;
  readonly createArgument: unknown;
  readonly signatories: readonly string[];
  readonly observers?: readonly string[];
  readonly createdAt: string;
  readonly interfaceViews?: readonly WireInterfaceView[];
  readonly acsDelta?: boolean;
}

/**
 * A contract was archived. An event of the ACS-delta shape.
 *
 * @category Sandbox
 */
export interface WireArchivedEvent {
  /** The offset of the update. */
  readonly offset: number;
  /** The id of the node in the transaction tree. */
  readonly nodeId: number;
  /** The id of the contract. */
  readonly contractId: string;
  /** The template: `package-id:Module:Entity`. */
  readonly templateId: string;
  /** The stakeholders. A response contains only those that the request selects. */
  readonly witnessParties: readonly string[];
  /** The package name of the template. */
  readonly packageName: string;
  /**
   * The interfaces of the template: `package-id:Module:Entity`. A response contains only those with a requested view.
   */
  readonly implementedInterfaces: readonly string[];
}

/**
 * A contract was created. The ledger stores all fields; responses omit the fields that the request does not select.
 *
 * @category Sandbox
 */
export interface WireCreatedEvent {
  /** The offset of the update. */
  readonly offset: number;
  /** The id of the node in the transaction tree. */
  readonly nodeId: number;
  /** The id of the contract. */
  readonly contractId: string;
  /** The template: `package-id:Module:Entity`. */
  readonly templateId: string;
  /** The contract key, or `null`. */
  readonly contractKey: unknown;
  /** The hash of the contract key, or `''`. Responses contain it since 3.5. */
  readonly contractKeyHash: string;
  /** The arguments. */
  readonly createArgument: unknown;
  /** The blob for explicit disclosure, if requested. */
  readonly createdEventBlob: string;
  /** The interface views. A response contains only those that the request selects. */
  readonly interfaceViews: readonly WireInterfaceView[];
  /** The informees. A response contains only those that the request selects. */
  readonly witnessParties: readonly string[];
  /** The signatories. */
  readonly signatories: readonly string[];
  /** The observers. */
  readonly observers: readonly string[];
  /** The ledger time of the creation. */
  readonly createdAt: string;
  /** The package name of the template. */
  readonly packageName: string;
  /** The id of the package that determines the encoding of the arguments. */
  readonly representativePackageId: string;
  /** Whether the contract is in the ACS delta; false if the same transaction archives it. */
  readonly acsDelta: boolean;
}

/**
 * A choice was exercised. An event of the ledger-effects shape.
 *
 * @category Sandbox
 */
export interface WireExercisedEvent {
  /** The offset of the update. */
  readonly offset: number;
  /** The id of the node in the transaction tree. */
  readonly nodeId: number;
  /** The id of the contract. */
  readonly contractId: string;
  /** The template: `package-id:Module:Entity`. */
  readonly templateId: string;
  /** The interface that defines the choice; `null` if the template defines it. */
  readonly interfaceId: string | null;
  /** The name of the choice. */
  readonly choice: string;
  /** The argument of the choice. */
  readonly choiceArgument: unknown;
  /** The parties that exercised the choice. */
  readonly actingParties: readonly string[];
  /** Whether the choice archives the contract. */
  readonly consuming: boolean;
  /** The informees. A response contains only those that the request selects. */
  readonly witnessParties: readonly string[];
  /** The last node that is a consequence of the choice. */
  readonly lastDescendantNodeId: number;
  /** The result of the choice. */
  readonly exerciseResult: unknown;
  /** The package name of the template. */
  readonly packageName: string;
  /**
   * The interfaces of the template: `package-id:Module:Entity`. For a consuming choice, a response contains only those
   * with a requested view.
   */
  readonly implementedInterfaces: readonly string[];
  /** Whether the exercise changes the active contracts. */
  readonly acsDelta: boolean;
}

/**
 * The view of a contract through an interface.
 *
 * @category Sandbox
 */
export interface WireInterfaceView {
  /** The interface: `package-id:Module:Entity`. */
  readonly interfaceId: string;
  /** The status of the view: code 0, or the reason why it failed. */
  readonly viewStatus: WireStatus;
  /** The view, or `null` if it failed. */
  readonly viewValue: unknown;
  /** The id of the package that computed the view. Responses contain it since 3.5. */
  readonly implementationPackageId: string | null;
}

/**
 * A gRPC status.
 *
 * @category Sandbox
 */
export interface WireStatus {
  /** The gRPC status code; 0 means success. */
  readonly code: number;
  /** The error message. */
  readonly message: string;
  /** Always empty in the sandbox. */
  readonly details: readonly unknown[];
}

/** A template or interface, by package id, with its package name. */
export interface TemplateRef {
  /** `<package-id>:<Module>:<Entity>` */
  readonly id: string;
  readonly packageName: string;
}

/**
 * The W3C trace context of an update.
 *
 * @category Sandbox
 */
export interface WireTraceContext {
  /** The `traceparent` header. */
  readonly traceparent: string | null;
  /** The `tracestate` header. */
  readonly tracestate: string | null;
}
