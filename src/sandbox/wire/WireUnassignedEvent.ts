/** A contract leaves a synchronizer. */
export interface WireUnassignedEvent {
  /** Ties it to its assignment. */
  readonly reassignmentId: string;
  /** The contract. */
  readonly contractId: string;
  /** The template, by package id. */
  readonly templateId: string;
  /** The synchronizer that it leaves. */
  readonly source: string;
  /** The synchronizer that it goes to. */
  readonly target: string;
  /** Who asked for it. */
  readonly submitter: string;
  /** How often the contract has moved. */
  readonly reassignmentCounter: number;
  /** Until when only the submitter may assign. */
  readonly assignmentExclusivity: string | null;
  /** The stakeholders; served as far as the reader may see them. */
  readonly witnessParties: readonly string[];
  /** The package name of the template. */
  readonly packageName: string;
  /** The offset of the update. */
  readonly offset: number;
  /** The place in the reassignment. */
  readonly nodeId: number;
}
