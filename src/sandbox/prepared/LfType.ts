/** A Daml type, as far as the templates of the sandbox use them. Those with a name are declared beside their template. */
export type LfType =
  | 'unit'
  | 'bool'
  | 'int64'
  | 'numeric'
  | 'text'
  | 'party'
  | 'contractId'
  | 'date'
  | 'timestamp'
  | { readonly optional: LfType }
  | { readonly list: LfType }
  | { readonly textMap: LfType }
  | { readonly genMap: readonly [key: LfType, value: LfType] }
  | { readonly record: Fields; readonly name: string }
  | { readonly variant: Fields; readonly name: string }
  | { readonly enum: readonly string[]; readonly name: string };

/** The fields of a record in the order of their declaration, or the cases of a variant. */
export type Fields = Readonly<Record<string, LfType>>;
