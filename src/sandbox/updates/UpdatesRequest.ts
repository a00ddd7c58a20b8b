import type { UpdateFormat } from '../formats/UpdateFormat.js';

/** The body of a request for updates, as read. */
export interface UpdatesRequest {
  readonly beginExclusive: number;
  readonly endInclusive: number | undefined;
  readonly descending: boolean;
  readonly format: UpdateFormat;
}
