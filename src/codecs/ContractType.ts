/** Decodes JSON of the ledger. */
export interface JsonDecoder<T> {
  /** Returns the value, or the reason why the JSON does not decode. */
  readonly run: (json: unknown) => Decoded<T>;
}

/** The result of a {@link JsonDecoder}. */
export type Decoded<T> =
  | { readonly ok: true; readonly result: T }
  | { readonly ok: false; readonly error: { readonly at?: string; readonly message?: string } };

/**
 * The type of contracts: a template, or an interface, with the type of its payload. Structural, so that what Daml's code
 * generator emits for JavaScript is one as it stands, of any release. {@link contractType} makes one from an io-ts codec.
 *
 * An object with `Archive` or `encode` is a template, as those of the code generator are; any other is an interface, whose
 * payload is its view.
 */
export interface ContractType<T = unknown> {
  /** `#package-name:Module:Entity`. */
  readonly templateId: string;
  /** Decodes the payload: the arguments of a template, the view of an interface. */
  readonly decoder: JsonDecoder<T>;
}

/** The payload of a {@link ContractType}. */
export type PayloadOf<C> = C extends ContractType<infer T> ? T : never;

/** Whether a type is an interface, whose payload is a view. */
export const isInterfaceType = (type: ContractType): boolean => !('Archive' in type) && !('encode' in type);
