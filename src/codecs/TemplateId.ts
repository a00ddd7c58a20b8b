import type * as t from 'io-ts';
import { matching } from './internal/matching.js';

/**
 * A template or an interface in a request: `#package-name:Module.Path:Entity`, or `package-id:Module.Path:Entity`, which
 * 3.5.1 and later refuse in the filter of a stream.
 */
export type TemplateId = string;

const name = '[A-Za-z$_][A-Za-z0-9$_]*';
const path = `${name}(\\.${name})*`;
const pattern = new RegExp(`^(#[A-Za-z0-9\\-_]{1,255}|[A-Za-z0-9\\-_ ]{1,64}):${path}:${path}$`);

/** Codec of `TemplateId`. */
export const TemplateId: t.Type<TemplateId> = matching(
  'TemplateId',
  pattern,
  2_300,
  '#package-name:Module:Entity or package-id:Module:Entity',
);
