import type { ChoiceType, ContractType, CreatableType, DecodeFailure, JsonDecoder } from '../../codecs/ContractType.js';
import { isRecord } from '../../codecs/internal/Codec.js';
import { checkTemplateId } from '../../codecs/scalars.js';
import { firstVersion } from '../ledger/PackageVersions.js';
import { checkRequired } from './checkRequired.js';
import { decodeWith, ledgerOf, type TemplateContract } from './TemplateLedger.js';
import type {
  ChoiceBody,
  InterfaceBody,
  InterfaceInstance,
  SandboxTemplate,
  TemplateBody,
  UntypedBody,
} from './TemplateBody.js';
import type { ChoiceModel, ModelContract, TemplateModel } from './TemplateModel.js';

/**
 * Defines a template, so that a sandbox runs its contracts: who signs and sees them, and what their choices do. Payloads,
 * arguments and results have the types of the template's {@link ContractType}.
 *
 * @param type - the type of the template, from `contractType` or from Daml's code generator; or its id
 * @param body - how its contracts behave. Its functions must be synchronous, and depend on their parameters alone
 * @throws TypeError if the template id or the version is invalid, or an interface requires another one that the template does not implement
 * @example
 * ```ts
 * import { contractType } from 'canton-rx';
 * import { createSandbox, template } from 'canton-rx/sandbox';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#bank:Main:Iou', t.type({ issuer: t.string, owner: t.string, amount: t.string }), {
 *   choices: { Give: { argument: t.type({ to: t.string }), result: t.string } },
 * });
 *
 * const iou = template(Iou, {
 *   signatories: ({ payload }) => [payload.issuer],
 *   observers: ({ payload }) => [payload.owner],
 *   ensure: ({ payload }) => Number(payload.amount) > 0,
 *   choices: {
 *     Give: {
 *       controllers: ({ payload }) => [payload.owner],
 *       exercise: ({ payload }, { to }, ledger) => ledger.create(Iou, { ...payload, owner: to }),
 *     },
 *   },
 * });
 *
 * createSandbox({ templates: [iou] });
 * ```
 * @category Templates
 */
export function template<C extends CreatableType>(type: C, body: TemplateBody<C>): SandboxTemplate;
export function template(templateId: string, body: UntypedBody): SandboxTemplate;
export function template(type: CreatableType | string, body: TemplateBody<CreatableType> | UntypedBody) {
  const { templateId, decoder } = typeof type === 'string' ? { templateId: type, decoder: anything } : type;
  checkTemplateId(templateId);
  const { signatories, observers, ensure, key, interfaces = [], choices = {} } = body as TemplateBody<CreatableType>;
  const { packageVersion = firstVersion, newFields = [] } = body;
  if (!/^\d+(\.\d+)*$/.test(packageVersion)) throw new TypeError(`'${packageVersion}' is not a version of a package`);
  const modelFor = (addedFields: readonly string[]): TemplateModel => {
    const complete = completing(decoder, addedFields);
    const decode = decodeWith(complete);
    return {
      check: (json) => failureOf(complete, json),
      describe: (json) => {
        const contract = { payload: decode(json) };
        return {
          signatories: [...new Set(signatories(contract))],
          observers: [...new Set(observers?.(contract))],
          isValid: ensure?.(contract) ?? true,
        };
      },
      ...(key && { key: (json: unknown) => key({ payload: decode(json) }) }),
      interfaces: interfaces.map((instance) => instance.modelFor(decode)),
      findChoice: finderOf(type, choices, decode),
    };
  };
  const { interfaces: instances } = modelFor([]);
  checkRequired(templateId, instances, instances);
  return { _tag: 'SandboxTemplate', templateId, packageVersion, newFields, interfaces: instances, modelFor };
}

/**
 * Lets a template implement an interface, for the `interfaces` of {@link template}: its view, and what its choices do.
 *
 * @param type - the type of the interface, from `interfaceType` or from Daml's code generator
 * @throws TypeError if the interface id is invalid
 * @example
 * ```ts
 * import { contractType, interfaceType } from 'canton-rx';
 * import { interfaceInstance, template } from 'canton-rx/sandbox';
 * import * as t from 'io-ts';
 *
 * const Holding = interfaceType('#token-api:Api:Holding', t.type({ holder: t.string }));
 * const Iou = contractType('#bank:Main:Iou', t.type({ owner: t.string }));
 *
 * template(Iou, {
 *   signatories: ({ payload }) => [payload.owner],
 *   interfaces: [interfaceInstance(Holding, { view: ({ payload }) => ({ holder: payload.owner }) })],
 * });
 * ```
 * @category Templates
 */
export function interfaceInstance<I extends ContractType, T>(type: I, body: InterfaceBody<T, I>): InterfaceInstance<T> {
  const { templateId: interfaceId } = type;
  checkTemplateId(interfaceId);
  return {
    _tag: 'InterfaceInstance',
    interfaceId,
    modelFor: (decode) => ({
      interfaceId,
      requires: (body.requires ?? []).map(({ templateId }) => templateId),
      view: (json) => body.view({ payload: decode(json) }),
      findChoice: finderOf(type, (body.choices ?? {}) as Bodies<T>, decode),
    }),
  };
}

const anything: JsonDecoder<unknown> = { run: (result) => ({ ok: true, result }) };

/** A decoder to which fields are `null` that a contract of an earlier version does not have. */
const completing = (decoder: JsonDecoder<unknown>, addedFields: readonly string[]): JsonDecoder<unknown> => ({
  run: (json) => {
    const missing = addedFields.filter((name) => isRecord(json) && !Object.hasOwn(json, name));
    if (missing.length === 0) return decoder.run(json);
    return decoder.run({ ...Object(json), ...Object.fromEntries(missing.map((name) => [name, null])) });
  },
});

const failureOf = (decoder: JsonDecoder<unknown>, json: unknown): DecodeFailure | undefined => {
  const decoded = decoder.run(json);
  return decoded.ok ? undefined : decoded.error;
};

type Bodies<T> = Readonly<Record<string, ChoiceBody<T, ChoiceType> | undefined>>;

/** Returns a function that finds the choices of a type. */
function finderOf<T>(
  type: object | string,
  bodies: Bodies<T>,
  decodePayload: (createArgument: unknown) => T,
): TemplateModel['findChoice'] {
  const choices = new Map<string, ChoiceModel>();
  for (const [name, body] of Object.entries(bodies)) {
    if (body === undefined) continue;
    const choiceType = typeof type === 'string' ? undefined : (type as Readonly<Record<string, ChoiceType>>)[name];
    choices.set(name, choiceModel(body, choiceType, decodePayload));
  }
  return (name) => choices.get(name);
}

function choiceModel<T>(
  { consuming = true, controllers, exercise }: ChoiceBody<T, ChoiceType>,
  type: ChoiceType | undefined,
  decodePayload: (createArgument: unknown) => T,
): ChoiceModel {
  const decoder = type?.argumentDecoder ?? anything;
  const decode = decodeWith(decoder);
  const contractOf = ({ contractId, createArgument, signatories, observers }: ModelContract): TemplateContract<T> => ({
    contractId,
    payload: decodePayload(createArgument),
    signatories,
    observers,
  });
  return {
    isConsuming: consuming,
    check: (json) => failureOf(decoder, json),
    controllers: (contract, argument) => [...new Set(controllers(contractOf(contract), decode(argument)))],
    exercise: (contract, argument, ledger) => {
      const result = exercise(contractOf(contract), decode(argument), ledgerOf(ledger));
      return encodeResult(result, type);
    },
  };
}

/** Encodes the result of a choice. Types of Daml's code generator have an encoder for it. */
function encodeResult(result: unknown, type: (ChoiceType & { resultEncode?(value: unknown): unknown }) | undefined) {
  if (typeof result === 'object' && result !== null && 'then' in result) {
    // what it does later fails, because the choice is over: a rejection without a handler would end the process
    Promise.resolve(result).catch(() => undefined);
    throw new TypeError('The body of a choice must be synchronous');
  }
  if (type?.resultEncode !== undefined) return type.resultEncode(result);
  return result === undefined ? {} : result;
}
