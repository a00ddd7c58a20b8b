/** A command that the sandbox can run. */
export type Command =
  | { readonly kind: 'create'; readonly templateId: string; readonly createArguments: unknown }
  | { readonly kind: 'archive'; readonly templateId: string; readonly contractId: string };
