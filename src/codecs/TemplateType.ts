import type * as t from 'io-ts';
import type { ChoiceType, ContractType, CreatableType, Decoded, JsonDecoder } from './ContractType.js';
import { type Attempt, explain } from './internal/explain.js';
import { quoteFilter } from './internal/quotes.js';
import { maxProblems, placeOf, type Problem, problemOf } from './Problem.js';
import { type CheckedTemplateId, checkTemplateId } from './scalars.js';
import { type StandardSchema, validatorOf } from './StandardSchema.js';

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
