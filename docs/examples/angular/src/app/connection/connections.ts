import { Injectable, inject, signal } from '@angular/core';
import { Route } from '../shell/route';
import { type Connection, partiesText } from './connection';
import { SETTINGS } from './settings';

const key = 'explorer.connection';

/** The connection of this tab. It survives a reload, without the token. */
@Injectable({ providedIn: 'root' })
export class Connections {
  readonly #settings = inject(SETTINGS);
  readonly #route = inject(Route);
  readonly current = signal<Connection | undefined>(this.#remembered() ?? this.#served());

  /** The connection before this one, to go back to after a wrong address. */
  readonly previous = signal<Connection | undefined>(undefined);

  open(connection: Omit<Connection, 'isSandbox'>): void {
    const before = this.current();
    if (before !== undefined && nameOf(before) !== nameOf(connection)) this.previous.set(before);
    const { token: _, ...rest } = this.#marked(connection);
    sessionStorage.setItem(key, JSON.stringify(rest));
    this.#route.readAs(connection.parties);
    this.current.set(this.#marked(connection));
  }

  /** The name of the button that opens the previous connection. */
  backTo(previous: Connection): string {
    const isSameAddress = previous.baseUrl === this.current()?.baseUrl;
    return `Back to ${isSameAddress ? partiesText(previous) : previous.baseUrl}`;
  }

  #served(): Connection | undefined {
    const { baseUrl } = this.#settings;
    return baseUrl === undefined
      ? undefined
      : this.#marked({ baseUrl, parties: this.#route.parties() ?? 'any', begin: 'start' });
  }

  #remembered(): Connection | undefined {
    const text = sessionStorage.getItem(key);
    if (text === null) return undefined;
    const remembered = JSON.parse(text) as Connection;
    const connection = this.#marked({ ...remembered, parties: this.#route.parties() ?? remembered.parties });
    // a restarted sandbox has another port
    return remembered.isSandbox && !connection.isSandbox ? undefined : connection;
  }

  #marked(connection: Omit<Connection, 'isSandbox'>): Connection {
    const { baseUrl, sandbox } = this.#settings;
    return { ...connection, isSandbox: sandbox === true && connection.baseUrl === baseUrl };
  }
}

const nameOf = ({ baseUrl, parties }: Pick<Connection, 'baseUrl' | 'parties'>): string => `${baseUrl} ${parties}`;
