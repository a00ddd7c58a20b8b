/** Where in IndexedDB a store is. */
export interface IndexedDbOptions {
  /**
   * The name of the database.
   *
   * @defaultValue 'canton-rx'
   */
  readonly database?: string | undefined;
}
