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
