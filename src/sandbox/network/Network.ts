import type { LedgerEntry } from '../ledger/Ledger.js';
import { withoutCommand } from '../wire/updateAt.js';
import type { Inbox } from './Inbox.js';

/** The synchronizers of one history: what one participant commits, all others receive, in the order of the commits. */
export class Network {
  readonly #inboxes = new Set<Inbox>();
  #joined = 0;

  /** Whether several participants share the history. */
  get isShared(): boolean {
    return this.#inboxes.size > 1;
  }

  /** How many participants have joined so far. */
  get joined(): number {
    return this.#joined;
  }

  /** Adds a participant. Returns its number, from 1 on. */
  join(inbox: Inbox): number {
    this.#inboxes.add(inbox);
    return (this.#joined += 1);
  }

  leave(inbox: Inbox): void {
    this.#inboxes.delete(inbox);
  }

  /** Sends what a participant has committed to all others. */
  send(entries: Iterable<LedgerEntry>, sender: Inbox): void {
    if (!this.isShared || !this.#inboxes.has(sender)) return;
    const received = [...entries].map(asReceived);
    for (const inbox of this.#inboxes) if (inbox !== sender) inbox.receive(received);
  }
}

/** A commit as the participants receive it that have not submitted it. */
export const asReceived = ({ update, submitters }: LedgerEntry): LedgerEntry => ({
  update: withoutCommand(update),
  ...(submitters !== undefined && { submitters }),
});
