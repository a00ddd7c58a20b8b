import type { Fields } from './LfType.js';

/** What is known of a template. */
export interface TemplateType {
  readonly fields: Fields;
  /** The fields of type `Party` that are observers. */
  readonly observers?: readonly string[];
}
