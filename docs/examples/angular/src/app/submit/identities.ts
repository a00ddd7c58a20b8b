import { computed, inject, Injectable, signal } from '@angular/core';
import { takeUntilDestroyed } from '@angular/core/rxjs-interop';
import { finalize, fromEvent } from 'rxjs';
import { CONNECTION } from '../connection/connection';
import { SandboxControl } from '../sandbox/sandbox-control';
import type { Algorithm, Identity } from './identity';
import { keyBox } from './key-box';
import { makeIdentity, publicKeyOf } from './make-identity';

/** The identities that can submit from this browser. */
@Injectable()
export class Identities {
  readonly #control = inject(SandboxControl);
  readonly #connection = inject(CONNECTION);
  /** Notifies the other tabs of a new identity. */
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

  /** Creates and stores a key. The sandbox hosts its party; any other participant needs its own tools for that. */
  async make(hint: string, algorithm: Algorithm): Promise<void> {
    const identity = await makeIdentity(hint, algorithm);
    await this.host(identity);
    await this.#add(identity);
  }

  /** Adds a party that the participant hosts and signs for: a name of the sandbox, or a party of any other participant. */
  async addHosted(name: string): Promise<void> {
    const party = this.#connection.isSandbox ? await this.#control.hostParty(name) : name;
    await this.#add({ party, hint: name });
  }

  async #add(identity: Identity): Promise<void> {
    await keyBox.add(identity);
    await this.#read();
    this.#tabs.postMessage('another');
    this.choose(identity.party);
  }

  async #read(): Promise<void> {
    const all = await keyBox.all();
    // a new identity of another tab does not change the selection of this one
    this.#chosen.set(this.current()?.party);
    this.all.set(all);
  }

  /** Hosts the parties again, which a restarted sandbox does not know. */
  async host(identity: Identity): Promise<void> {
    if (!this.#connection.isSandbox) return;
    if (identity.key === undefined) await this.#control.hostParty(identity.hint);
    else await this.#control.host(identity.hint, await publicKeyOf(identity));
  }
}
