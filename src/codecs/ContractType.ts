import type * as t from 'io-ts';
import { type Attempt, explain } from './internal/explain.js';
import { quoteFilter } from './internal/quotes.js';
import { maxProblems, placeOf, type Problem, problemOf } from './Problem.js';
import { type CheckedTemplateId, checkTemplateId } from './scalars.js';
import { type StandardSchema, validatorOf } from './StandardSchema.js';

/**
 * Decodes JSON from the ledger.
 *
 * @category Contract types
 */
export interface JsonDecoder<T> {
  /** Returns the decoded value, or the reason why decoding failed. */
  readonly run: (json: unknown) => Decoded<T>;
}

/**
 * The result of a {@link JsonDecoder}.
 *
 * @inline
 */
export type Decoded<T> =
  | {
      /** Decoding succeeded. */
      readonly ok: true;
      /** The value. */
      readonly result: T;
    }
  | {
      /** Decoding failed. */
      readonly ok: false;
      /** Where and why it failed. */
      readonly error: DecodeFailure;
    };

/**
 * The reason why JSON cannot be decoded.
 *
 * @inline
 */
export interface DecodeFailure {
  /** The path of the failure, such as `input.holder`. */
  readonly at?: string;
  /** The reason. Decoders from Daml's code generator include the value, after `got`. */
  readonly message?: string;
  /** All reasons, without values. Only types made by {@link contractType} and {@link interfaceType} set it. */
  readonly problems?: readonly Problem[];
}

/**
 * A template or an interface, with the type of its payload. The type is structural: the output of Daml's code generator
 * for JavaScript, of any release, matches it. {@link contractType} creates one from an io-ts codec or a schema.
 *
 * An object with the choice `Archive` and without an `encode` method is an interface, as in generated code. Its payload
 * is its view. Any other object is a template, also one that has only the two properties of this type.
 *
 * @category Contract types
 */
export interface ContractType<T = unknown> {
  /** `#package-name:Module:Entity`. */
  readonly templateId: string;
  /** Decodes the payload: the arguments of a template, the view of an interface. */
  readonly decoder: JsonDecoder<T>;
}

/**
 * A template whose contracts can be created. Structural, like {@link ContractType}. `I` is the type of the arguments of
 * commands. It differs from that of the payload if a {@link StandardSchema} converts values.
 *
 * @category Contract types
 */
export interface CreatableType<T = unknown, I = T> extends ContractType<T> {
  /** Encodes the arguments as Daml JSON. */
  encode(payload: I): unknown;
}

/**
 * A choice of a template or an interface. Structural, like {@link ContractType}. `I` is the type of the argument of
 * commands, as in {@link CreatableType}.
 *
 * @category Contract types
 */
export interface ChoiceType<C = unknown, R = unknown, I = C> {
  /** The name of the choice. */
  readonly choiceName: string;
  /** Decodes the argument. */
  readonly argumentDecoder: JsonDecoder<C>;
  /** Encodes the argument as Daml JSON. */
  argumentEncode(argument: I): unknown;
  /** Decodes the result. */
  readonly resultDecoder: JsonDecoder<R>;
  /** Returns the template or the interface that defines the choice. */
  template(): {
    /** `#package-name:Module:Entity`. */
    readonly templateId: string;
  };
}

/**
 * The payload type of a {@link ContractType}.
 *
 * @category Contract types
 */
export type PayloadOf<C> = C extends ContractType<infer T> ? T : never;

/**
 * The type of the decoded argument of a {@link ChoiceType}.
 *
 * @category Contract types
 */
export type ArgumentOf<C> = C extends ChoiceType<infer A, unknown, never> ? A : never;

/**
 * The result type of a {@link ChoiceType}.
 *
 * @category Contract types
 */
export type ResultOf<C> = C extends ChoiceType<unknown, infer R> ? R : never;

/** Whether a type is an interface, whose payload is a view. Generated ones have `Archive`, but no `encode`. */
export const isInterfaceType = (type: ContractType): boolean => 'Archive' in type && !('encode' in type);

/**
 * The codecs or schemas of a choice.
 *
 * @inline
 */
interface ChoiceCodecs {
  /** That of the argument. */
  readonly argument: t.Mixed | StandardSchema;
  /** That of the result. Default: the result stays undecoded. */
  readonly result?: t.Mixed | StandardSchema;
}

/**
 * Options of {@link contractType} and {@link interfaceType}.
 *
 * @inline
 */
interface TypeOptions<Choices> {
  /** The codecs or schemas of the choices, by choice name. You need not list `Archive`. Default: none. */
  readonly choices?: Choices;
}

/**
 * The codecs of choices, by choice name.
 *
 * @inline
 */
type ChoiceCodecsByName = Readonly<Record<string, ChoiceCodecs>>;

/**
 * The choices that {@link contractType} creates from codecs.
 *
 * @inline
 */
type ChoicesOf<Choices extends ChoiceCodecsByName> = {
  readonly [K in keyof Choices]: ChoiceType<
    OutputOf<Choices[K]['argument']>,
    Choices[K] extends Required<ChoiceCodecs> ? OutputOf<Choices[K]['result']> : unknown,
    InputOf<Choices[K]['argument']>
  >;
};

/**
 * The type of what a codec or a schema decodes to.
 *
 * @inline
 */
type OutputOf<C> = C extends StandardSchema<unknown, infer Output> ? Output : C extends t.Mixed ? t.TypeOf<C> : never;

/**
 * The type of what a codec or a schema takes for a command.
 *
 * @inline
 */
type InputOf<C> = C extends StandardSchema<infer Input, unknown> ? Input : OutputOf<C>;

/**
 * A record without fields: the argument and the result of `Archive`.
 *
 * @inline
 */
type Unit = Readonly<Record<string, never>>;

/**
 * The choice codecs of a type whose only choice is `Archive`.
 *
 * @inline
 */
type ArchiveAlone = Readonly<Record<'Archive', Readonly<Record<'argument' | 'result', t.Type<Unit>>>>>;

/**
 * An interface created by {@link interfaceType}. Its choices are its properties.
 *
 * @category Contract types
 */
export type InterfaceType<
  T,
  I extends string = string,
  Choices extends ChoiceCodecsByName = ArchiveAlone,
> = ContractType<T> & {
  /** `#package-name:Module:Entity`. */
  readonly templateId: I;
  /** Archives the contract. */
  readonly Archive: ChoiceType<Unit, Unit>;
} & ChoicesOf<Choices>;

/**
 * A template created by {@link contractType}. Its choices are its properties.
 *
 * @category Contract types
 */
export type TemplateType<
  T,
  I extends string = string,
  Choices extends ChoiceCodecsByName = ArchiveAlone,
  In = T,
> = CreatableType<T, In> & InterfaceType<T, I, Choices>;

/**
 * Creates the type of a template from io-ts codecs, or from schemas of any library that implements Standard Schema. Its
 * choices are its properties, as in generated code.
 *
 * A codec decodes payloads, and encodes the arguments of commands. A schema only decodes: payloads have its output type.
 * Commands have its input type, and are sent as they are.
 *
 * @param templateId - `#package-name:Module:Entity`, or `package-id:Module:Entity` with an id of 64 hex digits
 * @param codec - of the template's arguments as Daml JSON, in which `Int` and `Decimal` are strings
 * @throws TypeError if the template id is invalid, or a schema says that it is asynchronous. One that does not say so
 *   decodes nothing: its contracts are undecoded, with this problem
 * @example
 * ```ts
 * import { contractType, create, exercise } from 'canton-rx';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }), {
 *   choices: { Transfer: { argument: t.type({ newOwner: t.string }), result: t.string } },
 * });
 *
 * create(Iou, { owner: 'alice::1220ab', amount: '10.0' });
 * exercise(Iou.Transfer, '00ab', { newOwner: 'bob::1220cd' });
 * ```
 * @category Contract types
 */
export function contractType<A, I extends string, Choices extends ChoiceCodecsByName = ArchiveAlone, In = A>(
  templateId: CheckedTemplateId<I>,
  codec: t.Type<A, unknown> | StandardSchema<In, A>,
  options?: TypeOptions<Choices>,
): TemplateType<A, I, Choices, In>;
export function contractType(
  templateId: string,
  codec: t.Mixed | StandardSchema,
  options?: TypeOptions<ChoiceCodecsByName>,
): object {
  return Object.assign(interfaceType(templateId, codec, options), { encode: encoderOf(codec) });
}

/**
 * Creates the type of an interface from io-ts codecs or schemas, like {@link contractType}. Its payload is the view, so the `EventFormat` of a request must
 * include interface views. The formats that this library builds include them by default.
 *
 * @param interfaceId - `#package-name:Module:Entity`
 * @param view - decodes the view as Daml JSON
 * @throws TypeError if the interface id is invalid
 * @example
 * ```ts
 * import { exercise, interfaceType } from 'canton-rx';
 * import * as t from 'io-ts';
 *
 * const Holding = interfaceType('#holdings:Holding:Holding', t.type({ owner: t.string }), {
 *   choices: { Lock: { argument: t.type({ until: t.string }) } },
 * });
 *
 * exercise(Holding.Lock, '00ab', { until: '2026-07-24T10:00:00Z' });
 * ```
 * @category Contract types
 */
export function interfaceType<A, I extends string, Choices extends ChoiceCodecsByName = ArchiveAlone>(
  interfaceId: CheckedTemplateId<I>,
  view: t.Type<A, unknown> | StandardSchema<unknown, A>,
  options?: TypeOptions<Choices>,
): InterfaceType<A, I, Choices>;
export function interfaceType(
  templateId: string,
  codec: t.Mixed | StandardSchema,
  options: TypeOptions<ChoiceCodecsByName> = {},
): object {
  checkTemplateId(templateId);
  const type = { templateId, decoder: decoderOf(codec) };
  const template = (): ContractType => type;
  const archive = { choiceName: 'Archive', argumentDecoder: unit, argumentEncode: same, resultDecoder: unit, template };
  const choices = Object.entries(options.choices ?? {}).map(
    ([choiceName, { argument, result }]): [string, ChoiceType] => [
      choiceName,
      {
        choiceName,
        argumentDecoder: decoderOf(argument),
        argumentEncode: encoderOf(argument),
        resultDecoder: result === undefined ? { run: succeed } : decoderOf(result),
        template,
      },
    ],
  );
  return Object.assign(type, { Archive: archive }, Object.fromEntries(choices));
}

const same = (value: unknown): unknown => value;

const succeed = (result: unknown): Decoded<unknown> => ({ ok: true, result });

const unit: JsonDecoder<Unit> = { run: () => ({ ok: true, result: {} }) };

/** A schema has no encoder: its input is Daml JSON. */
const encoderOf = (codec: t.Mixed | StandardSchema): ((value: unknown) => unknown) =>
  isSchema(codec) ? same : (value): unknown => codec.encode(value);

const isSchema = (codec: t.Mixed | StandardSchema): codec is StandardSchema => '~standard' in codec;

function decoderOf(codec: t.Mixed | StandardSchema): JsonDecoder<unknown> {
  const attempt = isSchema(codec) ? validatorOf(codec) : attemptWith(codec);
  const remedy = isSchema(codec) ? 'let the schema accept both, such as with nullish' : 'use optional() of canton-rx';
  return {
    run: (json) => {
      const { value, refusals } = attempt(json);
      return refusals === undefined ? succeed(value) : refuse(explain(refusals, json, attempt, remedy));
    },
  };
}

function attemptWith(codec: t.Mixed): (json: unknown) => Attempt {
  return (json) => {
    const decoded = codec.decode(json);
    if (decoded._tag === 'Right') return { value: decoded.right };
    const filter = quoteFilter(json);
    return {
      refusals: decoded.left.slice(0, maxProblems).map((error) => ({
        problem: problemOf(error, error.message && filter(error.message, error.context.at(-1)?.actual)),
        places: [placeOf(error)],
      })),
    };
  };
}

function refuse(problems: readonly Problem[]): Decoded<never> {
  const [first] = problems;
  return { ok: false, error: { ...(first && { at: first.path, message: `expected ${first.expected}` }), problems } };
}
