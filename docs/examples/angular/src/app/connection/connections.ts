import { Injectable, inject, signal } from '@angular/core';
import type { Connection } from './connection';
import { SETTINGS } from './settings';

const key = 'explorer.connection';

/** The connection of this tab. It survives a reload, without the token. */
@Injectable({ providedIn: 'root' })
export class Connections {
  readonly #settings = inject(SETTINGS);
  readonly current = signal<Connection | undefined>(this.#remembered() ?? this.#served());

  /** The connection before this one, to go back to after a wrong address. */
  readonly previous = signal<Connection | undefined>(undefined);

  open(connection: Omit<Connection, 'isSandbox'>): void {
    const before = this.current();
    if (before?.baseUrl !== connection.baseUrl) this.previous.set(before);
    const { token: _, ...rest } = this.#marked(connection);
    sessionStorage.setItem(key, JSON.stringify(rest));
    this.current.set(this.#marked(connection));
  }

  #served(): Connection | undefined {
    const { baseUrl } = this.#settings;
    return baseUrl === undefined ? undefined : this.#marked({ baseUrl, parties: 'any', begin: 'start' });
  }

  #remembered(): Connection | undefined {
    const text = sessionStorage.getItem(key);
    if (text === null) return undefined;
    const remembered = JSON.parse(text) as Connection;
    const connection = this.#marked(remembered);
    // a restarted sandbox has another port
    return remembered.isSandbox && !connection.isSandbox ? undefined : connection;
  }

  #marked(connection: Omit<Connection, 'isSandbox'>): Connection {
    const { baseUrl, sandbox } = this.#settings;
    return { ...connection, isSandbox: sandbox === true && connection.baseUrl === baseUrl };
  }
}
