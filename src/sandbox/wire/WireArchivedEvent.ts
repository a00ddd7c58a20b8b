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
