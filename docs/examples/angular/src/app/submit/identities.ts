import { computed, inject, Injectable, signal } from '@angular/core';
import { takeUntilDestroyed } from '@angular/core/rxjs-interop';
import { finalize, fromEvent } from 'rxjs';
import { CONNECTION } from '../connection/connection';
import { SandboxControl } from '../sandbox/sandbox-control';
import type { Algorithm, Identity } from './identity';
import { keyBox } from './key-box';
import { makeIdentity, publicKeyOf } from './make-identity';

/** Who can submit from this browser. */
@Injectable()
export class Identities {
  readonly #control = inject(SandboxControl);
  readonly #connection = inject(CONNECTION);
  /** Tells the other tabs that there is another. */
  readonly #tabs = new BroadcastChannel('explorer-keys');
  readonly all = signal<readonly Identity[]>([]);
  readonly #parties = computed(() => new Set(this.all().map(({ party }) => party)));
  readonly #chosen = signal<string | undefined>(undefined);
  readonly current = computed(() => this.all().find(({ party }) => party === this.#chosen()) ?? this.all().at(-1));

  constructor() {
    void this.#read();
    fromEvent(this.#tabs, 'message')
      .pipe(
        takeUntilDestroyed(),
        finalize(() => this.#tabs.close()),
      )
      .subscribe(() => void this.#read());
  }

  isOurs(party: string): boolean {
    return this.#parties().has(party);
  }

  choose(party: string): void {
    this.#chosen.set(party);
  }

  /** Makes a key, keeps it, and has the sandbox host its party. Elsewhere hosting is for the participant's own tools. */
  async make(hint: string, algorithm: Algorithm): Promise<void> {
    const identity = await makeIdentity(hint, algorithm);
    await this.host(identity);
    await keyBox.add(identity);
    await this.#read();
    this.#tabs.postMessage('another');
    this.choose(identity.party);
  }

  async #read(): Promise<void> {
    const all = await keyBox.all();
    // who signs here does not change because another tab has somebody new
    this.#chosen.set(this.current()?.party);
    this.all.set(all);
  }

  /** A sandbox that was started anew has forgotten its parties. */
  async host(identity: Identity): Promise<void> {
    if (this.#connection.isSandbox) await this.#control.host(identity.hint, await publicKeyOf(identity));
  }
}
