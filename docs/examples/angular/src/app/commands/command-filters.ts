import { computed, inject, Injectable, signal } from '@angular/core';
import { CONNECTION, userIdOf } from '../connection/connection';
import { Route } from '../shell/route';

/** Any rule, as a filter. */
export const anyRule = '*';

/** Which commands to show. They stay while another page is shown. An empty string is no choice. */
@Injectable()
export class CommandFilters {
  readonly #userId = userIdOf(inject(CONNECTION)) ?? '';
  readonly party = signal('');
  readonly user = signal('');
  /** The name of a rule, or `anyRule`. */
  readonly rule = signal('');
  /** The user whose commands are read: empty for that of the token. */
  readonly userId = computed(() => this.user() || this.#userId);

  constructor() {
    const { party, user, rule } = this;
    inject(Route).keep('commands', { party, user, rule });
  }
}
