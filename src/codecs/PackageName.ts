import type * as t from 'io-ts';
import { matching } from './internal/matching.js';

/** The name of a Daml package: 1 to 255 of the characters `A-Z a-z 0-9 - _`. */
export type PackageName = string;

/** Codec of `PackageName`. */
export const PackageName: t.Type<PackageName, PackageName> = matching(
  'PackageName',
  /^[A-Za-z0-9\-_]+$/,
  255,
  '1 to 255 of A-Z a-z 0-9 - _',
);
