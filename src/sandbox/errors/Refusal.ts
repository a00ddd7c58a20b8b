import type { WireCantonError } from '../wire/WireCantonError.js';

/** Thrown to end the work on a request with an error, as text or as the error body. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly status: number,
    readonly body: string | WireCantonError,
  ) {
    super(typeof body === 'string' ? body : body.cause);
  }
}
