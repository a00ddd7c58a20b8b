import { Component, computed, inject, resource, signal } from '@angular/core';
import { CONNECTION } from '../connection/connection';
import { longId } from '../updates/names';
import { Identities } from './identities';
import type { Algorithm } from './identity';
import { publicKeyOf } from './make-identity';

/** The algorithm of a key; `none` for a party that the participant hosts. */
type Kind = Algorithm | 'none';

const kindOf = (chosen: string): Kind => (chosen === 'none' || chosen === 'P-256' ? chosen : 'Ed25519');

/** Selects the identity that signs, or creates one. */
@Component({
  selector: 'app-identity-form',
  templateUrl: './identity-form.html',
  styleUrl: '../shell/form.css',
})
export class IdentityForm {
  protected readonly identities = inject(Identities);
  protected readonly connection = inject(CONNECTION);
  protected readonly label = longId;
  protected readonly isAdding = signal(false);
  protected readonly isBusy = signal(false);
  protected readonly problem = signal('');
  protected readonly algorithms: readonly Algorithm[] = ['Ed25519', 'P-256'];
  protected readonly kind = signal<Kind>('Ed25519');
  protected readonly isHosted = computed(() => this.kind() === 'none');
  protected readonly kindOf = kindOf;
  protected readonly isNew = computed(() => this.isAdding() || this.identities.current() === undefined);
  /** The public key, which must be hosted with the tools of the participant where this is no sandbox. */
  protected readonly publicKey = resource({
    params: () => {
      const identity = this.identities.current();
      return identity?.key === undefined ? undefined : identity;
    },
    loader: ({ params }) => publicKeyOf(params),
  });

  protected async make(event: Event, hint: string, chosen: string): Promise<void> {
    event.preventDefault();
    // a browser restores what was chosen before without an event
    const kind = kindOf(chosen);
    this.kind.set(kind);
    this.isBusy.set(true);
    this.problem.set('');
    try {
      if (kind === 'none') await this.identities.addHosted(hint);
      else await this.identities.make(hint, kind);
      this.isAdding.set(false);
    } catch (error) {
      this.problem.set(error instanceof Error ? error.message : String(error));
    } finally {
      this.isBusy.set(false);
    }
  }
}
