import type * as t from 'io-ts';
import { matching } from './internal/matching.js';

/**
 * A template or an interface in a request: `#package-name:Module.Path:Entity`, or `package-id:Module.Path:Entity`, which
 * 3.5.1 and later refuse in the filter of a stream.
 */
export type TemplateId = string;

/** Codec of {@link (TemplateId:type)}. */
export const TemplateId: t.Type<TemplateId, TemplateId> = matching(
  'TemplateId',
  /^(#[A-Za-z0-9\-_]{1,255}|[A-Za-z0-9\-_ ]{1,64}):[A-Za-z$_][A-Za-z0-9$_]*(\.[A-Za-z$_][A-Za-z0-9$_]*)*:[A-Za-z$_][A-Za-z0-9$_]*(\.[A-Za-z$_][A-Za-z0-9$_]*)*$/,
  2300,
  'TemplateId, #package-name:Module:Entity or package-id:Module:Entity',
);
