/** One filter of a cumulative list, as read from a request. */
export interface IdentifierFilter {
  readonly kind: 'wildcard' | 'template' | 'interface';
  /** The template or interface; `''` for a wildcard. */
  readonly id: string;
  readonly blob: boolean;
  readonly view: boolean;
}
