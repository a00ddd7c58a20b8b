/** An event of a transaction. A consuming exercise is kept beside its archive, under the same node id. */
export type WireEvent =
  | {
      /** The contract made. */
      readonly CreatedEvent: WireCreatedEvent;
    }
  | {
      /** The contract ended. */
      readonly ArchivedEvent: WireArchivedEvent;
    }
  | {
      /** The choice taken. */
      readonly ExercisedEvent: WireExercisedEvent;
    };

/** An event to append; what is left out is filled in, from the contract where one is known. */
export type WireEventInput =
  | {
      /** The contract made. */
      readonly CreatedEvent: Partial<WireCreatedEvent>;
    }
  | {
      /** The contract ended; the consuming exercise is added. */
      readonly ArchivedEvent: Partial<WireArchivedEvent>;
    }
  | {
      /** The choice taken; if it is consuming, the archive is added. */
      readonly ExercisedEvent: Partial<WireExercisedEvent>;
    };

/** A choice being taken. */
export interface Choice {
  readonly offset: number;
  readonly nodeId: number;
  readonly choice: string;
  readonly choiceArgument: unknown;
  readonly exerciseResult: unknown;
  readonly actingParties: readonly string[];
  readonly lastDescendantNodeId?: number;
}

/** What a contract is made of; the rest of its event follows. */
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

/** A contract ends, in the ACS-delta shape. */
export interface WireArchivedEvent {
  /** The offset of the update. */
  readonly offset: number;
  /** The place in the transaction tree. */
  readonly nodeId: number;
  /** The contract. */
  readonly contractId: string;
  /** The template, by package id. */
  readonly templateId: string;
  /** The stakeholders; served as far as the reader may see them. */
  readonly witnessParties: readonly string[];
  /** The package name of the template. */
  readonly packageName: string;
  /** The interfaces of the template, by package id. */
  readonly implementedInterfaces: readonly string[];
}

/** A contract comes to be. As kept, every field is there; streams leave out what they must. */
export interface WireCreatedEvent {
  /** The offset of the update. */
  readonly offset: number;
  /** The place in the transaction tree. */
  readonly nodeId: number;
  /** The contract. */
  readonly contractId: string;
  /** The template, by package id. */
  readonly templateId: string;
  /** The key, `null` without one. */
  readonly contractKey: unknown;
  /** The hash of the key, `''` without one; served from 3.5 on. */
  readonly contractKeyHash: string;
  /** The arguments. */
  readonly createArgument: unknown;
  /** The blob for disclosure; served to those who ask for it. */
  readonly createdEventBlob: string;
  /** All views; served to those who ask for them. */
  readonly interfaceViews: readonly WireInterfaceView[];
  /** All informees; served as far as the reader may see them. */
  readonly witnessParties: readonly string[];
  /** Those bound by the contract. */
  readonly signatories: readonly string[];
  /** Those who see it. */
  readonly observers: readonly string[];
  /** The ledger time of creation. */
  readonly createdAt: string;
  /** The package name of the template. */
  readonly packageName: string;
  /** The package that renders the arguments. */
  readonly representativePackageId: string;
  /** False for a contract that ends in the transaction of its creation. */
  readonly acsDelta: boolean;
}

/** A choice is taken, in the ledger-effects shape. */
export interface WireExercisedEvent {
  /** The offset of the update. */
  readonly offset: number;
  /** The place in the transaction tree. */
  readonly nodeId: number;
  /** The contract. */
  readonly contractId: string;
  /** The template, by package id. */
  readonly templateId: string;
  /** The interface of the choice, if it is one of an interface. */
  readonly interfaceId: string | null;
  /** The choice. */
  readonly choice: string;
  /** Its argument. */
  readonly choiceArgument: unknown;
  /** Those who took it. */
  readonly actingParties: readonly string[];
  /** Whether it ends the contract. */
  readonly consuming: boolean;
  /** All informees; served as far as the reader may see them. */
  readonly witnessParties: readonly string[];
  /** Nodes up to this one are consequences of the choice. */
  readonly lastDescendantNodeId: number;
  /** Its result. */
  readonly exerciseResult: unknown;
  /** The package name of the template. */
  readonly packageName: string;
  /** The interfaces of the template, by package id. */
  readonly implementedInterfaces: readonly string[];
  /** Whether it changes the active contracts. */
  readonly acsDelta: boolean;
}

/** A contract seen through an interface. */
export interface WireInterfaceView {
  /** The interface, by package id. */
  readonly interfaceId: string;
  /** Code 0, or why there is no view. */
  readonly viewStatus: WireStatus;
  /** The view, `null` if it failed. */
  readonly viewValue: unknown;
  /** The package that computed the view; served from 3.5 on. */
  readonly implementationPackageId: string | null;
}

/** A gRPC status. */
export interface WireStatus {
  /** 0 is fine. */
  readonly code: number;
  /** What went wrong. */
  readonly message: string;
  /** Always empty here. */
  readonly details: readonly unknown[];
}

/** A template or interface in both its namings. */
export interface TemplateRef {
  /** `<package-id>:<Module>:<Entity>` */
  readonly id: string;
  readonly packageName: string;
}

/** A W3C trace context as updates carry it. */
export interface WireTraceContext {
  /** The `traceparent` header. */
  readonly traceparent: string | null;
  /** The `tracestate` header. */
  readonly tracestate: string | null;
}
