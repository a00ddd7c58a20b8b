/** The options of every command that reads updates. */
export const selectionOptions = {
  party: { type: 'string', multiple: true },
  template: { type: 'string', multiple: true },
  effects: { type: 'boolean' },
  variant: { type: 'string', multiple: true },
  synchronizer: { type: 'string', multiple: true },
} as const;
