import type { Accepted } from './Accepted.js';

/** The committed commands by change id: user, acting parties and command id. */
export class Deduplication {
  readonly #accepted = new Map<string, Accepted>();

  find(changeId: string): Accepted | undefined {
    return this.#accepted.get(changeId);
  }

  remember(changeId: string, accepted: Accepted): void {
    this.#accepted.set(changeId, accepted);
  }

  /** A restored participant knows nothing of what came after its backup. */
  restore(ledgerEnd: number): void {
    for (const [changeId, { completionOffset }] of this.#accepted) {
      if (completionOffset > ledgerEnd) this.#accepted.delete(changeId);
    }
  }
}
