import {
  Component,
  createEnvironmentInjector,
  effect,
  EnvironmentInjector,
  inject,
  untracked,
  viewChild,
  ViewContainerRef,
} from '@angular/core';
import { ConnectionForm } from './connection/connection-form';
import { Connections } from './connection/connections';
import { explorerProviders } from './explorer-providers';
import { Explorer } from './explorer';

/** Creates an explorer, with its own injector, for each connection, so that no state of the previous ledger remains. */
@Component({
  selector: 'app-root',
  imports: [ConnectionForm],
  template: `
    @if (connections.current() === undefined) {
      <main class="welcome">
        <h1>Ledger explorer</h1>
        <p>Every update of a Canton participant, as it comes.</p>
        <app-connection-form />
      </main>
    }
    <ng-container #host />
  `,
  styles: `
    .welcome {
      max-width: 26rem;
      margin: 12vh auto;
      padding: 0 16px;
    }
    h1 {
      margin: 0;
      font-size: 22px;
      letter-spacing: -0.01em;
    }
    p {
      margin: 6px 0 20px;
      color: var(--muted);
    }
  `,
})
export class App {
  protected readonly connections = inject(Connections);
  readonly #parent = inject(EnvironmentInjector);
  private readonly host = viewChild.required('host', { read: ViewContainerRef });

  constructor() {
    effect((onCleanup) => {
      const connection = this.connections.current();
      const host = this.host();
      if (connection === undefined) return;
      const environmentInjector = createEnvironmentInjector(explorerProviders(connection), this.#parent);
      untracked(() => host.createComponent(Explorer, { environmentInjector }));
      onCleanup(() => {
        host.clear();
        environmentInjector.destroy();
      });
    });
  }
}
