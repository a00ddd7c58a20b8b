import type { WireStatus } from './WireStatus.js';

/** A contract seen through an interface. */
export interface WireInterfaceView {
  /** The interface, by package id. */
  readonly interfaceId: string;
  /** Code 0, or why there is no view. */
  readonly viewStatus: WireStatus;
  /** The view, `null` if it failed. */
  readonly viewValue: unknown;
  /** The package that computed the view; served from 3.5 on. */
  readonly implementationPackageId: string | null;
}
