import type { WireInterfaceView } from './WireInterfaceView.js';

/** A contract comes to be. As kept, every field is there; streams leave out what they must. */
export interface WireCreatedEvent {
  /** The offset of the update. */
  readonly offset: number;
  /** The place in the transaction tree. */
  readonly nodeId: number;
  /** The contract. */
  readonly contractId: string;
  /** The template, by package id. */
  readonly templateId: string;
  /** The key, `null` without one. */
  readonly contractKey: unknown;
  /** The hash of the key, `''` without one; served from 3.5 on. */
  readonly contractKeyHash: string;
  /** The arguments. */
  readonly createArgument: unknown;
  /** The blob for disclosure; served to those who ask for it. */
  readonly createdEventBlob: string;
  /** All views; served to those who ask for them. */
  readonly interfaceViews: readonly WireInterfaceView[];
  /** All informees; served as far as the reader may see them. */
  readonly witnessParties: readonly string[];
  /** Those bound by the contract. */
  readonly signatories: readonly string[];
  /** Those who see it. */
  readonly observers: readonly string[];
  /** The ledger time of creation. */
  readonly createdAt: string;
  /** The package name of the template. */
  readonly packageName: string;
  /** The package that renders the arguments. */
  readonly representativePackageId: string;
  /** False for a contract that ends in the transaction of its creation. */
  readonly acsDelta: boolean;
}
