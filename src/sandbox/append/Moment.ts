/** The update that an event belongs to. */
export interface Moment {
  readonly offset: number;
  /** The ledger time. */
  readonly at: string;
}
