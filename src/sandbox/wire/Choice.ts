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
