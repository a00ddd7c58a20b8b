/** A template or interface in both its namings. */
export interface TemplateRef {
  /** `<package-id>:<Module>:<Entity>` */
  readonly id: string;
  readonly packageName: string;
}
