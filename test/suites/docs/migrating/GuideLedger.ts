/** The payload of the tasks in the guide. */
export interface Task {
  readonly owner: string;
  readonly title: string;
}

/** A ledger for the blocks of one side, with tasks. */
export interface GuideLedger {
  /** Its address. */
  readonly url: string;
  /** Creates a task, and returns its id. */
  readonly create: (title: string) => string;
  readonly archive: (contractId: string) => void;
  readonly close: () => Promise<void>;
}
