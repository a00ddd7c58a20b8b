import type * as t from 'io-ts';
import { type Problem, problemsOf } from './Problem.js';
import { TemplateId } from './scalars.js';

/**
 * Decodes JSON of the ledger.
 *
 * @category Contract types
 */
export interface JsonDecoder<T> {
  /** Returns the value, or the reason why the JSON does not decode. */
  readonly run: (json: unknown) => Decoded<T>;
}

/**
 * The result of a {@link JsonDecoder}.
 *
 * @category Contract types
 */
export type Decoded<T> =
  | {
      /** The JSON decodes. */
      readonly ok: true;
      /** The value. */
      readonly result: T;
    }
  | {
      /** The JSON does not decode. */
      readonly ok: false;
      /** Where and why. */
      readonly error: DecodeFailure;
    };

/**
 * Why JSON does not decode.
 *
 * @category Contract types
 */
export interface DecodeFailure {
  /** Where, such as `input.holder`. */
  readonly at?: string;
  /** Why. What Daml's code generator emits writes the value here, after `got`. */
  readonly message?: string;
  /** All reasons, without values. Types of {@link contractType} have them. */
  readonly problems?: readonly Problem[];
}

/**
 * The type of contracts: a template, or an interface, with the type of its payload. Structural, so that what Daml's code
 * generator emits for JavaScript is one as it stands, of any release. {@link contractType} makes one from an io-ts codec.
 *
 * An object with `encode` is a template, as those of the code generator are. Any other is an interface, whose payload is its
 * view.
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
 * A template, whose contracts can be created. Structural as {@link ContractType} is.
 *
 * @category Contract types
 */
export interface CreatableType<T = unknown> extends ContractType<T> {
  /** Encodes the arguments as the ledger reads them. */
  encode(payload: T): unknown;
}

/**
 * A choice of a template or of an interface. Structural as {@link ContractType} is.
 *
 * @category Contract types
 */
export interface ChoiceType<C = unknown, R = unknown> {
  /** Its name. */
  readonly choiceName: string;
  /** Decodes its argument. */
  readonly argumentDecoder: JsonDecoder<C>;
  /** Encodes its argument as the ledger reads it. */
  argumentEncode(argument: C): unknown;
  /** Decodes its result. */
  readonly resultDecoder: JsonDecoder<R>;
  /** The template or the interface that defines it. */
  template(): {
    /** `#package-name:Module:Entity`. */
    readonly templateId: string;
  };
}

/**
 * The payload of a {@link ContractType}.
 *
 * @category Contract types
 */
export type PayloadOf<C> = C extends ContractType<infer T> ? T : never;

/**
 * The argument of a {@link ChoiceType}.
 *
 * @category Contract types
 */
export type ArgumentOf<C> = C extends ChoiceType<infer A> ? A : never;

/**
 * The result of a {@link ChoiceType}.
 *
 * @category Contract types
 */
export type ResultOf<C> = C extends ChoiceType<unknown, infer R> ? R : never;

/** Whether a type is an interface, whose payload is a view. Interfaces of the code generator have `Archive` too. */
export const isInterfaceType = (type: ContractType): boolean => !('encode' in type);

/**
 * The codecs of a choice.
 *
 * @category Contract types
 */
export interface ChoiceCodecs {
  /** Of its argument. */
  readonly argument: t.Mixed;
  /** Of its result. Default: the result stays undecoded. */
  readonly result?: t.Mixed;
}

/**
 * Options of {@link contractType} and {@link interfaceType}.
 *
 * @category Contract types
 */
export interface TypeOptions<Choices> {
  /** The codecs of the choices, by their names. `Archive` need not be listed. Default: none. */
  readonly choices?: Choices;
}

/**
 * Codecs of choices, by the names of the choices.
 *
 * @category Contract types
 */
export type ChoiceCodecsByName = Readonly<Record<string, ChoiceCodecs>>;

/**
 * The choices that {@link contractType} makes of codecs.
 *
 * @category Contract types
 */
export type ChoicesOf<Choices extends ChoiceCodecsByName> = {
  readonly [K in keyof Choices]: ChoiceType<
    t.TypeOf<Choices[K]['argument']>,
    Choices[K] extends Required<ChoiceCodecs> ? t.TypeOf<Choices[K]['result']> : unknown
  >;
};

/**
 * A record without fields, which is the argument and the result of `Archive`.
 *
 * @category Contract types
 */
export type Unit = Readonly<Record<string, never>>;

/**
 * The codecs of a type without choices of its own.
 *
 * @category Contract types
 */
export type ArchiveAlone = Readonly<Record<'Archive', Readonly<Record<'argument' | 'result', t.Type<Unit>>>>>;

/**
 * An interface that {@link interfaceType} has made: its choices are its properties.
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
 * A template that {@link contractType} has made: its choices are its properties.
 *
 * @category Contract types
 */
export type TemplateType<
  T,
  I extends string = string,
  Choices extends ChoiceCodecsByName = ArchiveAlone,
> = CreatableType<T> & InterfaceType<T, I, Choices>;

/**
 * Makes the type of a template from io-ts codecs. Its choices are its properties, as with generated types.
 *
 * @param templateId - `#package-name:Module:Entity`
 * @param codec - decodes and encodes the template's arguments, as Daml JSON: `Int` and `Decimal` are strings
 * @throws TypeError for an invalid template id
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
export function contractType<A, I extends string, Choices extends ChoiceCodecsByName = ArchiveAlone>(
  templateId: I,
  codec: t.Type<A, unknown>,
  options?: TypeOptions<Choices>,
): TemplateType<A, I, Choices>;
export function contractType(templateId: string, codec: t.Mixed, options?: TypeOptions<ChoiceCodecsByName>): object {
  return Object.assign(interfaceType(templateId, codec, options), {
    encode: (payload: unknown): unknown => codec.encode(payload),
  });
}

/**
 * Makes the type of an interface from io-ts codecs. Its payload is the view, so `EventFormat`s must ask for it, as those of
 * the library do.
 *
 * @param interfaceId - `#package-name:Module:Entity`
 * @param view - decodes the view
 * @throws TypeError for an invalid interface id
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
  interfaceId: I,
  view: t.Type<A, unknown>,
  options?: TypeOptions<Choices>,
): InterfaceType<A, I, Choices>;
export function interfaceType(
  templateId: string,
  codec: t.Mixed,
  options: TypeOptions<ChoiceCodecsByName> = {},
): object {
  if (!TemplateId.is(templateId)) {
    throw new TypeError(`'${String(templateId)}' is neither #package-name:Module:Entity nor package-id:Module:Entity`);
  }
  const type = { templateId, decoder: decoderOf(codec) };
  const template = (): ContractType => type;
  const archive = { choiceName: 'Archive', argumentDecoder: unit, argumentEncode: same, resultDecoder: unit, template };
  const choices = Object.entries(options.choices ?? {}).map(
    ([choiceName, { argument, result }]): [string, ChoiceType] => [
      choiceName,
      {
        choiceName,
        argumentDecoder: decoderOf(argument),
        argumentEncode: (value): unknown => argument.encode(value),
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

const decoderOf = (codec: t.Decoder<unknown, unknown>): JsonDecoder<unknown> => ({
  run: (json) => {
    const decoded = codec.decode(json);
    if (decoded._tag === 'Right') return succeed(decoded.right);
    const problems = problemsOf(decoded.left);
    const [first] = problems;
    return { ok: false, error: { ...(first && { at: first.path, message: `expected ${first.expected}` }), problems } };
  },
});
