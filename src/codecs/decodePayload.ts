import {
  type ContractType,
  type Decoded,
  type DecodeFailure,
  isInterfaceType,
  type JsonDecoder,
} from './ContractType.js';
import type { CreatedEvent, InterfaceView, ViewStatus } from './Event.js';
import { quoteFilter } from './internal/quotes.js';
import { maxProblems, type Problem, problemAt } from './Problem.js';
import type { TemplateId } from './scalars.js';

/**
 * Returns a predicate: whether a wire id, `package-id:Module:Entity`, is that of the given template or interface. It
 * compares package names if the wire sends one in addition to the id, which it does for templates only.
 */
export function matchId(id: TemplateId): (wireId: string, packageName?: string) => boolean {
  if (!id.startsWith('#')) return (wireId) => wireId === id;
  const end = id.indexOf(':');
  const name = id.slice(1, end);
  const moduleAndEntity = id.slice(end);
  return (wireId, packageName = name) => packageName === name && wireId.endsWith(moduleAndEntity);
}

/**
 * Throws a TypeError for two interfaces whose ids differ in the package alone, if one has the name of its package. The wire has
 * the name of no interface's package, so that a view of the other would be taken for one of it.
 */
export function checkDistinct(types: readonly ContractType[]): void {
  const ids = types.filter(isInterfaceType).map(({ templateId }) => templateId);
  for (const id of ids) {
    const other = ids.find((one) => one !== id && matchId(id)(one));
    if (other !== undefined)
      throw new TypeError(`the interfaces ${id} and ${other} cannot be distinguished: read them separately`);
  }
}

/** Returns a predicate: whether a contract is of the template, or has a view of the interface, even a failed one. */
export function matchType(type: ContractType): (created: CreatedEvent) => boolean {
  const matches = matchId(type.templateId);
  if (!isInterfaceType(type)) return ({ templateId, packageName }) => matches(templateId, packageName);
  return ({ interfaceViews }) => interfaceViews.some(({ interfaceId }) => matches(interfaceId));
}

/** The payload of a contract, or why it cannot be decoded. */
export type DecodedPayload<T = unknown> =
  | { readonly ok: true; readonly payload: T }
  | {
      readonly ok: false;
      /** The value that cannot be decoded; absent if a view failed. */
      readonly argument?: unknown;
      /** The problems, without values. */
      readonly problems: readonly Problem[];
      /** The status of a failed view. */
      readonly viewStatus?: ViewStatus;
    };

/** Decodes the payload of a contract of a type. */
export function decodePayload<T>(type: ContractType<T>, created: CreatedEvent): DecodedPayload<T> {
  if (!isInterfaceType(type)) return decodeAs(type.decoder, 'createArgument', created.createArgument);
  const matches = matchId(type.templateId);
  const view = created.interfaceViews.find(({ interfaceId }) => matches(interfaceId));
  if (view === undefined || hasFailed(view)) {
    return {
      ok: false,
      problems: [{ path: 'viewValue', expected: 'a view' }],
      ...(view && { viewStatus: view.viewStatus }),
    };
  }
  return decodeAs(type.decoder, 'viewValue', view.viewValue);
}

const hasFailed = ({ viewStatus }: InterfaceView): boolean => viewStatus.code !== 0;

/** Decodes the field `path` of an event. Events omit a `null` of the wire; decoders expect it. */
export function decodeAs<T>(decoder: JsonDecoder<T>, path: string, argument: unknown = null): DecodedPayload<T> {
  const decoded = runDecoder(decoder, argument);
  if (decoded.ok) return { ok: true, payload: decoded.result };
  const problems = problemsIn(decoded.error, argument)
    .slice(0, maxProblems)
    .map(({ path: inner, expected }) => problemAt([path, inner], expected));
  return { ok: false, argument, problems };
}

/** Decoders should return their failures. One that throws must not end the feed. */
function runDecoder<T>(decoder: JsonDecoder<T>, argument: unknown): Decoded<T> {
  try {
    return decoder.run(argument);
  } catch {
    return { ok: false, error: { problems: [{ path: '', expected: 'a value that its decoder accepts' }] } };
  }
}

/** The problems that a decoder reported. The text after `got` is dropped, because it may be the value. */
const problemsIn = (
  { at = '', message = 'another value', problems }: DecodeFailure,
  argument: unknown,
): readonly Problem[] => problems ?? [{ path: at.replace(/^input\.?/, ''), expected: quoteFilter(argument)(message) }];
