export * from './answers.js';
export * from './events.js';
export * from './messages.js';
export * from './requests.js';
export * from './scalars.js';
export * from './updates.js';
