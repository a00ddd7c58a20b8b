import {
  type ContractType,
  type Decoded,
  type DecodeFailure,
  isInterfaceType,
  type JsonDecoder,
} from './ContractType.js';
import type { CreatedEvent, InterfaceView, ViewStatus } from './Event.js';
import type { Problem } from './Problem.js';
import type { TemplateId } from './scalars.js';

/**
 * Whether an id of the wire, `package-id:Module:Entity`, is that of a template or of an interface. A name of a package is
 * compared where the wire has it beside the id, which it has for templates only.
 */
export function matchId(id: TemplateId): (wireId: string, packageName?: string) => boolean {
  if (!id.startsWith('#')) return (wireId) => wireId === id;
  const end = id.indexOf(':');
  const name = id.slice(1, end);
  const moduleAndEntity = id.slice(end);
  return (wireId, packageName = name) => packageName === name && wireId.endsWith(moduleAndEntity);
}

/** Whether a contract is of a type: of the template, or with a view of the interface, even a failed one. */
export function matchType(type: ContractType): (created: CreatedEvent) => boolean {
  const matches = matchId(type.templateId);
  if (!isInterfaceType(type)) return ({ templateId, packageName }) => matches(templateId, packageName);
  return ({ interfaceViews }) => interfaceViews.some(({ interfaceId }) => matches(interfaceId));
}

/** The payload of a contract, or why it does not decode. */
export type DecodedPayload<T = unknown> =
  | { readonly ok: true; readonly payload: T }
  | {
      readonly ok: false;
      /** What does not decode; absent if a view failed. */
      readonly argument?: unknown;
      /** Without any value. */
      readonly problems: readonly Problem[];
      /** Of a view that failed. */
      readonly viewStatus?: ViewStatus;
    };

/** Decodes the payload of a contract of the type. */
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

/** Decodes the field `path` of an event. The wire's `null` is absent in events, but not for decoders. */
export function decodeAs<T>(decoder: JsonDecoder<T>, path: string, argument: unknown = null): DecodedPayload<T> {
  const decoded = runDecoder(decoder, argument);
  if (decoded.ok) return { ok: true, payload: decoded.result };
  const problems = problemsIn(decoded.error).map((problem) => ({
    ...problem,
    path: [path, problem.path].filter((key) => key !== '').join('.'),
  }));
  return { ok: false, argument, problems };
}

/** Decoders return their failures. One that throws must not end what reads its contracts. */
function runDecoder<T>(decoder: JsonDecoder<T>, argument: unknown): Decoded<T> {
  try {
    return decoder.run(argument);
  } catch {
    return { ok: false, error: { problems: [{ path: '', expected: 'what its decoder accepts' }] } };
  }
}

/** The problems of a decoder. What it says after `got` is dropped, which may be the value. */
const problemsIn = ({ at = '', message = 'another value', problems }: DecodeFailure): readonly Problem[] =>
  problems ?? [
    { path: at.replace(/^input\.?/, ''), expected: message.replace(/^expected /, '').replace(/,? got .*/s, '') },
  ];
