import { generatedParties } from '../traffic/generatedParties.js';
import type { SigningKey } from './SigningKey.js';

/** The keys of an external party. */
export interface PartyKeys {
  readonly keys: readonly SigningKey[];
  /** How many of them have to sign. */
  readonly threshold: number;
}

/** The parties of this participant; the external ones with their public keys. */
export class HostedParties {
  readonly #external = new Map<string, PartyKeys>();

  get all(): readonly string[] {
    return [...generatedParties, ...this.#external.keys()];
  }

  add(party: string, keys: PartyKeys): void {
    this.#external.set(party, keys);
  }

  /** The keys of an external party. */
  find(party: string): PartyKeys | undefined {
    return this.#external.get(party);
  }
}
