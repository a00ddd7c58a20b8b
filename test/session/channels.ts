import { timer } from 'rxjs';

/**
 * Channels within a process, as `BroadcastChannel` has them: a message goes to all other channels of the same name, later. Those
 * of Node.js are broken after a test with zone.js in the same process.
 */
export class LocalChannel extends EventTarget {
  static readonly #open = new Set<LocalChannel>();

  constructor(readonly name: string) {
    super();
    LocalChannel.#open.add(this);
  }

  postMessage(data: unknown): void {
    for (const other of LocalChannel.#open) {
      if (other === this || other.name !== this.name) continue;
      timer(0).subscribe(() => {
        if (LocalChannel.#open.has(other)) other.dispatchEvent(Object.assign(new Event('message'), { data }));
      });
    }
  }

  close(): void {
    LocalChannel.#open.delete(this);
  }
}
